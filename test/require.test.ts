import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { expect, test } from 'vitest'
import { require } from '../src/require.js'

/** V8 compiles with natives only if the flag is set at that time. */
function nativeTest(): (object: object) => boolean {
  setFlagsFromString('--allow-natives-syntax')
  const hasFastProperties = runInThisContext('(object) => %HasFastProperties(object)') as (
    object: object,
  ) => boolean
  hasFastProperties({})
  setFlagsFromString('--no-allow-natives-syntax')
  return hasFastProperties
}

test('a package that extends String does not leave all strings slow', () => {
  const hasFastProperties = nativeTest()
  class Text extends String {}
  expect(new Text('a').length).toBe(1)
  expect(require('node:path')).toBeDefined()
  expect(hasFastProperties(String.prototype)).toBe(true)
})
