/** README and docs are held to the source: their code compiles, their links lead somewhere, their lists are whole. */

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Crawler } from 'kumo'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { PROJECT } from './run-program.js'
import { typeErrors } from './type-errors.js'

const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8')
const markdownIn = (folder: string) =>
  readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))
const DOCS = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'examples/README.md', ...markdownIn('docs')]

interface Block {
  readonly page: string
  /** Of the fence above it. */
  readonly line: number
  readonly source: string
}

/** The TypeScript blocks of a page, without those marked `ts ignore`. */
function blocksOf(page: string): Block[] {
  const blocks: Block[] = []
  let open: { line: number; indent: string; lines: string[] } | undefined
  for (const [index, line] of read(page).split('\n').entries()) {
    const fence = /^(\s*)```(.*)$/.exec(line)
    if (open === undefined) {
      if (fence?.[2]?.trim() === 'ts') open = { line: index + 1, indent: fence[1]!, lines: [] }
    } else if (fence !== null) {
      blocks.push({ page, line: open.line, source: open.lines.join('\n') })
      open = undefined
    } else {
      open.lines.push(line.slice(open.indent.length))
    }
  }
  return blocks
}

/** All blocks as one program: each a module of its own, `kumo` meaning the source. */
function compile(blocks: readonly Block[]): string[] {
  // Within the project, so that the packages it depends on are found.
  const folder = mkdtempSync(join(PROJECT, 'node_modules', '.docs-'))
  try {
    const files = blocks.map(({ page }, index) => join(dirname(page), `${index}.ts`))
    for (const [index, { source }] of blocks.entries()) {
      mkdirSync(join(folder, dirname(files[index]!)), { recursive: true })
      writeFileSync(join(folder, files[index]!), source)
    }
    return typeErrors(folder, {
      // A snippet may name a thing only to show how it is made.
      compilerOptions: {
        noUnusedLocals: false,
        noUnusedParameters: false,
        moduleDetection: 'force',
        rootDirs: [folder, PROJECT],
      },
      files,
    }).map(({ file, line, message }) => {
      const block = blocks[files.indexOf(file)]
      return block === undefined
        ? `${file}:${line} ${message}`
        : `${block.page}:${block.line + line} ${message}`
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('code in the docs type-checks', () => {
  const blocks = DOCS.flatMap(blocksOf)
  expect(blocks.length).toBeGreaterThan(15)
  // One mistake of our own among them, to see that mistakes are found, and where.
  const source = "import { Crawler } from 'kumo'\nnew Crawler().sedes('https://example.com/')"
  const mistake = { page: 'MISTAKE.md', line: 10, source }
  expect(compile([mistake, ...blocks])).toEqual([expect.stringMatching(/^MISTAKE\.md:12 .*sedes/)])
})

describe('links in the docs', () => {
  test.each(DOCS)('%s', (page) => {
    const broken: string[] = []
    for (const [, target = ''] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue
      const [file = '', anchor] = target.split('#')
      const path = file === '' ? page : join(dirname(page), file)
      if (!existsSync(join(PROJECT, path))) broken.push(target)
      else if (anchor !== undefined && !anchorsOf(path).includes(anchor)) broken.push(target)
    }
    expect(broken).toEqual([])
  })
})

/** Headings as GitHub makes anchors of them. */
function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** The words of a union of string literals, as the source lists them. */
function wordsOf(file: string, type: string): string[] {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.ES2022)
  const words: string[] = []
  for (const statement of source.statements) {
    if (!ts.isTypeAliasDeclaration(statement) || statement.name.text !== type) continue
    if (!ts.isUnionTypeNode(statement.type)) continue
    for (const member of statement.type.types) {
      if (ts.isLiteralTypeNode(member) && ts.isStringLiteral(member.literal)) words.push(member.literal.text)
    }
  }
  return words
}

/** The first cells of the tables under a heading, without their code marks. */
function rowsUnder(page: string, heading: string): string[] {
  const [, section = ''] = read(page).split(`\n## ${heading}\n`)
  const [upToNext = ''] = section.split('\n## ')
  return [...upToNext.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, cell = '']) => cell)
}

describe('docs/errors.md', () => {
  test.each([
    ['Errors', 'src/errors.ts', 'KumoErrorCode'],
    ['Failures', 'src/types.ts', 'FailureCode'],
    ['Skips', 'src/types.ts', 'SkipReason'],
  ])('%s: has every word of %s, and no other', (heading, file, type) => {
    const words = wordsOf(file, type)
    expect(words.length).toBeGreaterThan(5)
    expect(rowsUnder('docs/errors.md', heading).sort()).toEqual(words.sort())
  })
})

describe('docs/options.md', () => {
  const methods = Object.getOwnPropertyNames(Crawler.prototype).filter((name) => name !== 'constructor')

  test.each(methods)('%s', (method) => {
    expect(read('docs/options.md')).toMatch(new RegExp(`\`${method}\\(`))
  })
})

/** The fields of an interface, without those that it inherits. */
function fieldsOf(file: string, name: string): string[] {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.ES2022)
  return source.statements
    .filter(ts.isInterfaceDeclaration)
    .filter((found) => found.name.text === name)
    .flatMap(({ members }) => members.map((member) => (member.name as ts.Identifier).text))
}

describe('docs/page.md', () => {
  test.each<[heading: string, file: string, interfaces: string[]]>([
    ['Page', 'src/extract/contract.ts', ['Page']],
    ['Failure', 'src/types.ts', ['Failure']],
    ['Skip', 'src/types.ts', ['Skip']],
    ['Redirect', 'src/types.ts', ['Redirect']],
    ['Store', 'src/stores/contract.ts', ['StoreEvent']],
    ['Progress and end', 'src/engine/stats/stats.ts', ['Stats', 'Summary']],
  ])('%s: has every field, in order, and no other', (heading, file, interfaces) => {
    const fields = [...new Set(interfaces.flatMap((name) => fieldsOf(file, name)))]
    expect(fields.length).toBeGreaterThan(2)
    expect(rowsUnder('docs/page.md', heading)).toEqual(fields)
  })
})

describe('docs/statistics.md', () => {
  test('names every field of the statistics', () => {
    const source = ts.createSourceFile('stats.ts', read('src/engine/stats/stats.ts'), ts.ScriptTarget.ES2022)
    const fields = source.statements
      .filter(ts.isInterfaceDeclaration)
      .flatMap(({ members }) => members.map((member) => (member.name as ts.Identifier).text))
    expect(fields.length).toBeGreaterThan(25)
    const page = read('docs/statistics.md')
    expect(fields.filter((field) => !page.includes(`\`${field}\``) && field !== 'stages')).toEqual([])
  })
})

test('README.md has the two commands as they are to be typed', () => {
  for (const command of ['npm ci && npm run demo', 'npm cit'])
    expect(read('README.md').split('\n')).toContain(command)
})
