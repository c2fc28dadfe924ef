/** A program for Node.js compiles against the package without TypeScript's DOM library, and its pages have types. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { PROJECT } from './run-program.js'

const TYPES = join(PROJECT, 'dist/index.d.ts')
const CONSUMER = join(PROJECT, 'consumer.ts')

const SOURCE = `
import { Crawler } from './dist/index.js'
new Crawler().on('page', ({ document }) => {
  const heading: string | undefined = document.querySelector('h1')?.textContent
  for (const link of document.querySelectorAll('a')) console.log(heading, link.getAttribute('href')?.length)
  document.querySelektor('h1')
})
`

function compile(): string[] {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.Node16,
    moduleResolution: ts.ModuleResolutionKind.Node16,
    lib: ['lib.es2022.d.ts'],
    types: ['node'],
    typeRoots: [join(PROJECT, 'node_modules/@types')],
    strict: true,
    skipLibCheck: false,
    noEmit: true,
  }
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (path) => path === CONSUMER || fileExists(path)
  host.readFile = (path) => (path === CONSUMER ? SOURCE : readFile(path))
  host.getSourceFile = (path, language, ...rest) =>
    path === CONSUMER
      ? ts.createSourceFile(path, SOURCE, language, true)
      : getSourceFile(path, language, ...rest)
  const program = ts.createProgram([CONSUMER], options, host)
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

test.skipIf(!existsSync(TYPES))('page.document is typed without the DOM library (needs a build)', () => {
  // The misspelt method is there to see that the document is not of the type any.
  expect(compile()).toEqual([
    expect.stringContaining("'querySelektor' does not exist on type 'BareDocument'"),
  ])
})
