/**
 * Guards the architecture: which rooms exist and what each may import, where time, randomness and third-party packages
 * may appear, that no files import each other in a cycle, and that files and folders stay small enough to read.
 * docs/architecture.md explains why.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

const SRC = fileURLToPath(new URL('../src/', import.meta.url))
const TEST = fileURLToPath(new URL('./', import.meta.url))

interface Import {
  /** As written. */
  readonly what: string
  /** The file in src/ that it resolves to, e.g. `url/scope/scope.ts`; undefined for packages. */
  readonly file: string | undefined
  /** `import type`, or only names marked `type`: erased at run time. */
  readonly typeOnly: boolean
}

interface Source {
  /** Relative to src/, with forward slashes. */
  readonly file: string
  /** The folder below src/, '' for files at the root. */
  readonly room: string
  /** The whole path of the folder, e.g. `fetch/http/access`. */
  readonly folder: string
  readonly text: string
  readonly imports: readonly Import[]
  /** Every identifier and property access in code, e.g. `Date.now`, without comments and strings. */
  readonly names: ReadonlySet<string>
}

/** Every folder of src/. A new room or subroom gets a line here and a row in docs/architecture.md. */
const FOLDERS: readonly string[] = [
  'cli cli/check cli/crawl cli/inspect cli/simulate cli/warc',
  'cli cli/check cli/crawl cli/inspect cli/search cli/simulate',
  'conformance conformance/durable conformance/exchange conformance/frontier conformance/handover',
  'conformance/membership',
  'engine engine/admission engine/hooks engine/refresh engine/stats engine/visit',
  'cli cli/check cli/crawl cli/feeds cli/inspect cli/simulate',
  'conformance conformance/durable conformance/exchange conformance/frontier conformance/handover',
  'engine engine/admission engine/feeds engine/refresh engine/stats engine/visit',
  'engine engine/admission engine/feeds engine/hooks engine/refresh engine/stats engine/visit',
  'exchange',
  'extract extract/charset extract/digest extract/dom extract/html extract/select extract/sitemap extract/xml',
  'extract/content extract/content/markdown extract/content/meta extract/content/sections extract/content/structured',
  'feeds feeds/difference feeds/discover feeds/follow feeds/parse feeds/posting feeds/schedule',
  'fetch fetch/dns fetch/http fetch/http/access fetch/http/http2 fetch/http/undici fetch/robots',
  'frontier',
  'hooks hooks/graph hooks/graph/query hooks/graph/rank hooks/session hooks/sinks hooks/sinks/databases hooks/sinks/files hooks/sinks/web',
  'modules',
  'options',
  'partition',
  'refresh',
  'run run/threads',
  'search search/crawl search/hits search/index search/parts search/query search/segment search/serve search/words',
  'seen',
  'sim sim/feeds sim/refresh',
  'stores stores/level stores/level/check stores/level/db stores/level/format stores/level/frontier',
  'stores/level/inspect stores/level/opening stores/level/seen stores/level/threads',
  'stores/redis stores/redis/client stores/redis/parts stores/redis/protocol stores/redis/session',
  'url url/scope url/traps',
  'warc warc/format',
  'workers workers/closures workers/exchange',
].flatMap((line) => line.split(' '))

/**
 * Files that every room may import. `recipe.ts` marks what Kumo's own functions made, so that threads can rebuild it;
 * `cost-line.ts` is how queues and the index learn what pages cost.
 */
const COMMON = [
  ...['types.ts', 'errors.ts', 'owned.ts', 'require.ts', 'time.ts'],
  ...['modules/recipe.ts', 'hooks/cost-line.ts'],
]
/** Files at the root that combine rooms: the public entries. */
const ENTRIES = ['index.ts', 'adapters.ts', 'crawler.ts']
/** Rooms that combine other rooms: the options and the run of a crawl. */
const COMPOSING = ['options', 'modules', 'run']
/** Rooms that build crawls or parts for their own use: simulations, the suites for adapters, the command line. */
const ASSEMBLING = ['sim', 'conformance', 'cli']
/** Rooms that build on the implementation of other rooms, with the reason. */
const BUILDS_ON: Readonly<Record<string, readonly string[]>> = {
  // A store's frontier is the workbench over a disk; its seen-set is the table over a disk.
  stores: ['frontier', 'seen', 'partition'],
  // Feeds have the charsets and entities of pages, and are found in their tags.
  feeds: ['extract'],
  // Entries of feeds are markup, and their text is read like that of pages.
  search: ['extract'],
  // Archived answers are taken apart and decoded like those of the web.
  warc: ['fetch'],
}

const MAX_ROOT_FILES = 8
const MAX_FOLDER_FILES = 16
const MAX_LINES = 500
/** A table of names, not a thought. */
const MAY_BE_LONG = ['extract/html/entity-names.ts']

const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
  .sort()
  .map(readSource)

function readSource(file: string): Source {
  return toSource(file, readFileSync(join(SRC, file), 'utf8'))
}

function toSource(file: string, text: string): Source {
  return {
    file,
    room: roomOf(file),
    folder: folderOf(file),
    text,
    ...parse(file, text),
  }
}

function roomOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : ''
}

function folderOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.lastIndexOf('/')) : ''
}

function parse(file: string, text: string): Pick<Source, 'imports' | 'names'> {
  const imports: Import[] = []
  const names = new Set<string>()
  const add = (what: string, typeOnly: boolean) =>
    imports.push({ what, file: targetOf(file, what), typeOnly })
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      add(node.moduleSpecifier.text, isTypeOnly(node.importClause))
    } else if (
      ts.isExportDeclaration(node) &&
      node.moduleSpecifier &&
      ts.isStringLiteral(node.moduleSpecifier)
    ) {
      const { exportClause } = node
      const named = exportClause && ts.isNamedExports(exportClause) ? exportClause.elements : []
      add(
        node.moduleSpecifier.text,
        node.isTypeOnly || (named.length > 0 && named.every((each) => each.isTypeOnly)),
      )
    } else if (ts.isCallExpression(node) && isLoading(node)) {
      const [argument] = node.arguments
      if (argument && ts.isStringLiteral(argument)) add(argument.text, false)
    } else if (
      ts.isImportTypeNode(node) &&
      ts.isLiteralTypeNode(node.argument) &&
      ts.isStringLiteral(node.argument.literal)
    ) {
      add(node.argument.literal.text, true)
    } else if (ts.isPropertyAccessExpression(node)) {
      names.add(`${node.expression.getText()}.${node.name.text}`)
    } else if (ts.isElementAccessExpression(node) && ts.isStringLiteral(node.argumentExpression)) {
      names.add(`${node.expression.getText()}.${node.argumentExpression.text}`)
    } else if (ts.isIdentifier(node) && !isMember(node)) {
      names.add(node.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true))
  return { imports, names }
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false
  if (clause.isTypeOnly) return true
  const { name, namedBindings } = clause
  if (name || !namedBindings || !ts.isNamedImports(namedBindings)) return false
  return namedBindings.elements.length > 0 && namedBindings.elements.every((each) => each.isTypeOnly)
}

/** `import('…')` or `require('…')`. */
function isLoading({ expression }: ts.CallExpression): boolean {
  if (expression.kind === ts.SyntaxKind.ImportKeyword) return true
  return ts.isIdentifier(expression) && expression.text === 'require'
}

/** The `b` of `a.b`, of `{ b: 1 }` and of a declaration in a class or type: not a global name. */
function isMember(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node
  const declares =
    ts.isPropertyAssignment(parent) ||
    ts.isMethodDeclaration(parent) ||
    ts.isMethodSignature(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isPropertyDeclaration(parent)
  return declares && parent.name === node
}

function targetOf(file: string, what: string): string | undefined {
  if (!what.startsWith('.')) return undefined
  return normalize(join(dirname(file), what))
    .replaceAll('\\', '/')
    .replace(/\.js$/, '.ts')
}

/** One line per violation, so that a failure says what to change. */
function breaches(find: (source: Source) => readonly string[]): string[] {
  return sources.flatMap((source) => find(source).map((breach) => `src/${source.file}: ${breach}`))
}

function packagesOf({ imports }: Source): string[] {
  return imports.filter(({ file }) => file === undefined).map(({ what }) => what)
}

/** Imports of packages that match, outside the folders that may import them. */
function strangers(name: RegExp, folders: readonly string[]): string[] {
  return breaches((source) =>
    folders.some((folder) => `${source.folder}/`.startsWith(`${folder}/`))
      ? []
      : packagesOf(source)
          .filter((what) => name.test(what))
          .map((what) => `imports ${what}; only ${folders.map((folder) => `${folder}/`).join(' and ')} may`),
  )
}

/** In its room or in a subroom of it: `fetch/contract.ts`, `fetch/robots/contract.ts`. */
const isContract = (file: string) => file.endsWith('/contract.ts')

function foreignImports({ room, imports }: Source): string[] {
  if (room === '' || COMPOSING.includes(room) || ASSEMBLING.includes(room)) return []
  return imports
    .filter(({ file, typeOnly }) => {
      if (file === undefined || COMMON.includes(file)) return false
      const other = roomOf(file)
      if (other === room || other === 'url' || BUILDS_ON[room]?.includes(other)) return false
      return !(typeOnly && isContract(file))
    })
    .map(({ what, typeOnly }) => `imports ${typeOnly ? 'types from ' : ''}${what}`)
}

function codeInContract({ file, text, imports }: Source): string[] {
  if (!isContract(file)) return []
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, removeComments: true },
  })
  const code = outputText.replace(/export \{\};?/, '').trim()
  const values = imports.filter(({ typeOnly }) => !typeOnly).map(({ what }) => `imports ${what} as a value`)
  return code === '' ? values : [...values, `holds code: ${code.slice(0, 60)}`]
}

const TIME_AND_CHANCE = [
  'Date.now',
  'Math.random',
  'performance.now',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'process.hrtime',
  'randomUUID',
  'crypto.randomUUID',
]

function timeAndChance({ file, room, names, text }: Source): string[] {
  if (file === 'time.ts' || room === 'sim') return []
  const used = TIME_AND_CHANCE.filter((name) => names.has(name) || names.has(`globalThis.${name}`))
  const dates = /\bnew Date\(\)/.test(text) ? ['new Date()'] : []
  return [...used, ...dates].map((name) => `uses ${name}`)
}

describe('rooms', () => {
  test('there are some, and the parser sees their imports', () => {
    expect(sources.length).toBeGreaterThan(40)
    const plan = sources.find(({ file }) => file === 'run/plan.ts')!
    expect(plan.imports.map(({ file }) => file)).toContain('engine/delivery.ts')
    expect(plan.imports.find(({ file }) => file === 'engine/parts.ts')?.typeOnly).toBe(true)
    expect(plan.imports.find(({ file }) => file === 'engine/delivery.ts')?.typeOnly).toBe(false)
    const time = sources.find(({ file }) => file === 'time.ts')!
    expect([...time.names]).toEqual(expect.arrayContaining(['setTimeout', 'Math.random', 'performance.now']))
    const http = sources.find(({ file }) => file === 'fetch/http/http.ts')!
    expect(packagesOf(http)).toContain('undici')
  })

  test('are those of the list', () => {
    const folders = new Set(sources.map(({ folder }) => folder).filter((folder) => folder !== ''))
    expect([...folders].filter((folder) => !FOLDERS.includes(folder))).toEqual([])
  })

  test(`the root has at most ${MAX_ROOT_FILES} files: common ones and entries`, () => {
    const root = sources.filter(({ room }) => room === '').map(({ file }) => file)
    expect(root.filter((file) => !COMMON.includes(file) && !ENTRIES.includes(file))).toEqual([])
    expect(root.length).toBeLessThanOrEqual(MAX_ROOT_FILES)
  })

  test(`a folder has at most ${MAX_FOLDER_FILES} files`, () => {
    const counts = new Map<string, number>()
    for (const { folder } of sources) counts.set(folder, (counts.get(folder) ?? 0) + 1)
    expect([...counts].filter(([, files]) => files > MAX_FOLDER_FILES)).toEqual([])
  })

  test('common files import only common files', () => {
    const found = breaches(({ file, imports }) => {
      if (!COMMON.includes(file)) return []
      return imports
        .filter((each) => each.file !== undefined && !COMMON.includes(each.file))
        .map(({ what }) => `imports ${what}`)
    })
    expect(found).toEqual([])
  })

  test('a room imports the common files, url/ and itself; of other rooms only types from their contracts', () => {
    expect(breaches(foreignImports)).toEqual([])
  })

  test('a contract holds types and nothing else', () => {
    expect(breaches(codeInContract)).toEqual([])
  })

  test('relative imports end in .js and lead to a file', () => {
    const files = new Set(sources.map(({ file }) => file))
    const found = breaches(({ imports }) =>
      imports
        .filter(({ what, file }) => file !== undefined && (!what.endsWith('.js') || !files.has(file)))
        .map(({ what }) => `imports ${what}`),
    )
    expect(found).toEqual([])
  })

  test('no files import each other in a cycle, types included', () => {
    const graph = new Map(
      sources.map(({ file, imports }) => [file, imports.flatMap(({ file }) => (file ? [file] : []))]),
    )
    expect(cycleIn(graph)).toBeUndefined()
    expect(
      cycleIn(
        new Map([
          ['a', ['b']],
          ['b', ['c']],
          ['c', ['b']],
        ]),
      ),
    ).toBe('b → c → b')
  })
})

/** The first cycle found, as text. */
function cycleIn(graph: ReadonlyMap<string, readonly string[]>): string | undefined {
  const done = new Set<string>()
  const walk = (file: string, path: readonly string[]): string | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file].join(' → ')
    if (done.has(file)) return undefined
    for (const next of graph.get(file) ?? []) {
      const cycle = walk(next, [...path, file])
      if (cycle) return cycle
    }
    done.add(file)
    return undefined
  }
  for (const file of graph.keys()) {
    const cycle = walk(file, [])
    if (cycle) return cycle
  }
  return undefined
}

describe('time, randomness and packages', () => {
  test('only time.ts and sim/ read the time, set timers or draw random numbers', () => {
    expect(breaches(timeAndChance)).toEqual([])
  })

  test.each<[RegExp, string[]]>([
    [/^undici$/, ['fetch/http']],
    [/^(node:)?(http|https|http2|net|tls|dns)(\/|$)/, ['fetch', 'conformance', 'cli']],
    // A graph's ranks are computed in a thread that is no worker of a crawl.
    [/^(node:)?worker_threads$/, ['workers', 'hooks/graph/rank']],
    [/^(classic-level|level|abstract-level|lmdb)(\/|$)/, ['stores/level', 'hooks/graph']],
    [/^(ioredis|redis|@redis\/.*)$/, ['stores/redis']],
    [/^(linkedom|htmlparser2)/, ['extract/dom']],
    [/^(ipaddr\.js|tough-cookie)$/, ['fetch/http']],
    [/^tldts/, ['url']],
  ])('%s is imported only in %j', (name, folders) => {
    expect(strangers(name, folders)).toEqual([])
  })

  test('src/ imports no development dependencies', () => {
    const manifest = JSON.parse(readFileSync(join(SRC, '../package.json'), 'utf8')) as {
      dependencies: Record<string, string>
      peerDependencies?: Record<string, string>
      optionalDependencies?: Record<string, string>
    }
    const { dependencies, peerDependencies = {}, optionalDependencies = {} } = manifest
    const known = new Set(Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies }))
    const found = breaches((source) =>
      source.imports
        .filter(({ file, what, typeOnly }) => file === undefined && !what.startsWith('node:') && !typeOnly)
        .map(({ what }) =>
          what
            .split('/')
            .slice(0, what.startsWith('@') ? 2 : 1)
            .join('/'),
        )
        .filter((name) => !known.has(name))
        .map((name) => `imports ${name}, which is not a dependency in package.json`),
    )
    expect(found).toEqual([])
  })

  test('built-in modules are imported with the node: prefix', () => {
    const found = breaches((source) =>
      packagesOf(source)
        .filter((what) =>
          /^(fs|path|url|util|events|stream|zlib|crypto|os|net|http|https|worker_threads)(\/|$)/.test(what),
        )
        .map((what) => `imports ${what}; write node:${what}`),
    )
    expect(found).toEqual([])
  })
})

describe('files', () => {
  test(`have at most ${MAX_LINES} lines`, () => {
    const found = breaches(({ file, text }) => {
      const lines = text.trimEnd().split('\n').length
      return lines > MAX_LINES && !MAY_BE_LONG.includes(file) ? [`has ${lines} lines`] : []
    })
    expect(found).toEqual([])
  })

  test('export names, not defaults', () => {
    const found = breaches(({ text }) => (/^export default /m.test(text) ? ['has a default export'] : []))
    expect(found).toEqual([])
  })
})

describe('tests', () => {
  test('stand at the path of the source that they are named after', () => {
    const files = sources.map(({ file }) => file)
    const found = readdirSync(TEST, { recursive: true, encoding: 'utf8' })
      .map((path) => path.replaceAll('\\', '/'))
      .filter((path) => path.endsWith('.test.ts'))
      .flatMap((path) => {
        const source = path.replace(/\.test\.ts$/, '.ts')
        const name = source.slice(source.lastIndexOf('/') + 1)
        const namesakes = files.filter((file) => roomOf(file) === roomOf(path) && file.endsWith(`/${name}`))
        if (namesakes.length === 0 || namesakes.includes(source)) return []
        return [`test/${path}: tests src/${namesakes.join(' or src/')}`]
      })
    expect(found).toEqual([])
  })
})

describe('the guard itself', () => {
  test.each<[string, string, (source: Source) => string[], number]>([
    ['engine/a.ts', "import { scan } from '../extract/scanner.js'", foreignImports, 1],
    ['engine/a.ts', "import type { Scan } from '../extract/scanner.js'", foreignImports, 1],
    ['engine/a.ts', "import { type Page } from '../extract/contract.js'", foreignImports, 0],
    ['engine/a.ts', "import { Page } from '../extract/contract.js'", foreignImports, 1],
    ['engine/a.ts', "import type { RobotsGate } from '../fetch/robots/contract.js'", foreignImports, 0],
    ['engine/a.ts', "import type { Robots } from '../fetch/robots/parse.js'", foreignImports, 1],
    ['engine/a.ts', "export * from '../frontier/memory.js'", foreignImports, 1],
    ['engine/a.ts', "const x = await import('../frontier/memory.js')", foreignImports, 1],
    ['engine/a.ts', "let x: import('../frontier/memory.js').X", foreignImports, 1],
    ['engine/a.ts', "import { DEFAULTS } from '../options.js'", foreignImports, 1],
    [
      'engine/a.ts',
      "import { resolve } from '../url/resolve.js'\nimport { b } from './b.js'",
      foreignImports,
      0,
    ],
    ['stores/memory.ts', "import { memoryFrontier } from '../frontier/memory.js'", foreignImports, 0],
    ['stores/memory.ts', "import { httpFetcher } from '../fetch/http.js'", foreignImports, 1],
    ['run/plan.ts', "import { httpFetcher } from '../fetch/http/http.js'", foreignImports, 0],
    ['cli/a.ts', "import { Crawler } from '../index.js'", foreignImports, 0],
    ['engine/a.ts', "import { count } from '../cli/format.js'", foreignImports, 1],
    ['seen/contract.ts', 'export interface A { b: 1 }', codeInContract, 0],
    ['seen/contract.ts', 'export const a = 1', codeInContract, 1],
    ['seen/a.ts', 'const at = Date.now()', timeAndChance, 1],
    ['seen/a.ts', "const at = Date['now']()", timeAndChance, 1],
    ['seen/a.ts', 'globalThis.setTimeout(f, 1)', timeAndChance, 1],
    ['seen/a.ts', "import { setTimeout as pause } from 'node:timers/promises'", timeAndChance, 1],
    ['seen/a.ts', 'const at = new Date()', timeAndChance, 1],
    ['seen/a.ts', '// Date.now is not used\nclock.now()\nconst s = "Math.random"', timeAndChance, 0],
    ['time.ts', 'Date.now()', timeAndChance, 0],
  ])('%s with %j', (file, text, rule, found) => {
    expect(rule(toSource(file, text))).toHaveLength(found)
  })
})
