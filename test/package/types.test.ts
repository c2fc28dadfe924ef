/** TypeScript programs, as a module and as CommonJS, compile against the package, and the compiler finds their mistakes. */

import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { PROJECT } from '../run-program.js'
import { APP } from './place.js'

const SOURCE = `
import { Crawler, KumoError, level, type Page } from 'kumo'
import { pageOf } from 'kumo/conformance'
import { virtualClock, type VirtualClock } from 'kumo/sim'

const page: Page = pageOf({ url: 'https://example.com/', body: '' })
const clock: VirtualClock = virtualClock()
const titles = new Crawler().store(level('x')).clock(clock).extract({ words: ({ text }) => text.length })
titles.on('page', ({ data, document }) => {
  const words: number = data.words
  console.log(words, document.title, page.url)
  data.wrods
})
try {
  titles.delay(-1)
} catch (error) {
  if (error instanceof KumoError) console.log(error.code.startsWith('KUMO_'), error.cod)
}
`

const MISTAKES = [
  expect.stringContaining("Property 'wrods' does not exist"),
  expect.stringContaining("Property 'cod' does not exist on type 'KumoError'"),
]

test('consumer.mts, consumer.cts and typed.mts', () => {
  const files = ['consumer.mts', 'consumer.cts'].map((name) => join(APP, name))
  for (const file of files) writeFileSync(file, SOURCE)
  const typed = join(APP, 'typed.mts')
  copyFileSync(new URL('typed.mts', import.meta.url), typed)
  const program = ts.createProgram([...files, typed], {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.Node16,
    moduleResolution: ts.ModuleResolutionKind.Node16,
    lib: ['lib.es2022.d.ts'],
    types: ['node'],
    typeRoots: [join(PROJECT, 'node_modules/@types')],
    strict: true,
    skipLibCheck: false,
    noEmit: true,
  })
  const found = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  expect(found).toEqual([...MISTAKES, ...MISTAKES])
})
