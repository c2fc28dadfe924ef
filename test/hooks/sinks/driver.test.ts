import { expect, test } from 'vitest'
import { loadDriver } from '../../../src/hooks/sinks/driver.js'

const MISSING: string = 'no-such-driver'

test('a driver that is not installed is an error with the command that installs it', () => {
  const load = () => loadDriver('postgres', 'no-such-driver', (require) => require(MISSING))
  expect(load).toThrow(
    expect.objectContaining({
      code: 'KUMO_NOT_INSTALLED',
      message: expect.stringMatching(
        /^postgres\(\) needs the package 'no-such-driver' \(.*\); install it: npm install no-such-driver$/,
      ),
    }),
  )
})
