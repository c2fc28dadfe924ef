/** A program for Node.js compiles against the package without TypeScript's DOM library, and its pages have types. */

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT } from './run-program.js'
import { typeErrors } from './type-errors.js'

const TYPES = join(PROJECT, 'dist/index.d.ts')

const SOURCE = `
import { Crawler } from '../index.js'
new Crawler().on('page', ({ document }) => {
  const heading: string | undefined = document.querySelector('h1')?.textContent
  for (const link of document.querySelectorAll('a')) console.log(heading, link.getAttribute('href')?.length)
  document.querySelektor('h1')
})
`

function compile(): string[] {
  const folder = mkdtempSync(join(PROJECT, 'dist/consumer-'))
  try {
    writeFileSync(join(folder, 'consumer.ts'), SOURCE)
    return typeErrors(folder, {
      compilerOptions: {
        module: 'Node16',
        moduleResolution: 'Node16',
        lib: ['ES2022'],
        typeRoots: [join(PROJECT, 'node_modules/@types')],
        skipLibCheck: false,
        paths: {},
      },
      files: ['consumer.ts'],
    }).map(({ message }) => message)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test.skipIf(!existsSync(TYPES))('page.document is typed without the DOM library (needs a build)', () => {
  // The misspelt method is there to see that the document is not of the type any.
  expect(compile()).toEqual([
    expect.stringContaining("'querySelektor' does not exist on type 'BareDocument'"),
  ])
})
