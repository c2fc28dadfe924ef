/**
 * The doors of the package: how many names the main entry has, that every type of a public signature is exported
 * somewhere, that no two share a name, and that every key of every option object is described and may be undefined.
 */

import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { PROJECT } from './run-program.js'

const ENTRIES = {
  kumo: 'src/index.ts',
  'kumo/adapters': 'src/adapters.ts',
  'kumo/content': 'src/extract/content/index.ts',
  'kumo/feeds': 'src/feeds/index.ts',
  'kumo/redis': 'src/stores/redis/index.ts',
  'kumo/search': 'src/search/index.ts',
  'kumo/warc': 'src/warc/index.ts',
  'kumo/graph': 'src/hooks/graph/index.ts',
  'kumo/sinks': 'src/hooks/sinks/index.ts',
  'kumo/conformance': 'src/conformance/index.ts',
  'kumo/sim': 'src/sim/index.ts',
} as const
const MOST_NAMES = 60

const program = open()
const checker = program.getTypeChecker()

function open(): ts.Program {
  const { config } = ts.readConfigFile(join(PROJECT, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, PROJECT)
  const files = Object.values(ENTRIES).map((file) => join(PROJECT, file))
  return ts.createProgram(files, options)
}

/** The files with the methods that a crawler inherits. */
const SETTINGS = ['settings', 'rule-settings'].map(
  (name) => program.getSourceFile(join(PROJECT, `src/options/${name}.ts`))!,
)

/** What an entry exports, by name; aliases are followed. */
function exportsOf(entry: keyof typeof ENTRIES): Map<string, ts.Symbol> {
  const source = program.getSourceFile(join(PROJECT, ENTRIES[entry]))!
  const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(source)!)
  return new Map(symbols.map((symbol) => [symbol.name, original(symbol)]))
}

function original(symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

const ENTRY_NAMES = Object.keys(ENTRIES) as (keyof typeof ENTRIES)[]
const exported = new Set(ENTRY_NAMES.flatMap((entry) => [...exportsOf(entry).values()]))

function isOurs(declaration: ts.Declaration): boolean {
  return declaration.getSourceFile().fileName.startsWith(join(PROJECT, 'src/'))
}

describe('names', () => {
  test(`kumo has at most ${MOST_NAMES}`, () => {
    const names = [...exportsOf('kumo').keys()]
    expect(names.length).toBeGreaterThan(40)
    expect(names.length).toBeLessThanOrEqual(MOST_NAMES)
    const promised = ['Crawler', 'CrawlRun', 'KumoError', 'memory', 'level', 'parseRobots', 'parseSitemap']
    const contracts = ['Frontier', 'HostPartitioner', 'Fetcher', 'Extractor', 'SeenStore', 'Hook', 'Store']
    expect(names).toEqual(expect.arrayContaining([...promised, ...contracts]))
    expect([...exportsOf('kumo/adapters').keys()]).toEqual(expect.arrayContaining(contracts))
  })

  test('of two entries mean the same thing', () => {
    const seen = new Map<string, ts.Symbol>()
    const clashes: string[] = []
    for (const entry of ENTRY_NAMES) {
      for (const [name, symbol] of exportsOf(entry)) {
        if ((seen.get(name) ?? symbol) !== symbol) clashes.push(`${entry}: ${name}`)
        seen.set(name, symbol)
      }
    }
    expect(clashes).toEqual([])
  })

  test('every type of a public signature is exported by some entry', () => {
    const missing = new Set<string>()
    // Suites and simulations take objects that are written in place.
    const doors = [...exportsOf('kumo').values(), ...exportsOf('kumo/adapters').values()]
    const methods = SETTINGS.flatMap((settings) =>
      checker.getExportsOfModule(checker.getSymbolAtLocation(settings)!),
    )
    for (const symbol of [...doors, ...methods]) {
      for (const declaration of symbol.declarations ?? []) {
        for (const name of mentionedTypes(declaration)) {
          const target = checker.getSymbolAtLocation(name)
          const found = target && original(target)
          const isNamed = found?.declarations?.some((each) => isOurs(each) && isTopLevel(each))
          if (found && isNamed && !exported.has(found) && !INTERNAL.has(found.name)) {
            missing.add(`${found.name} (in ${symbol.name})`)
          }
        }
      }
    }
    expect([...missing].sort()).toEqual([])
  })
})

/** Types that users never write: how `page.data` grows, what the constructor of a run is given, any text. */
const INTERNAL: ReadonlySet<string> = new Set(['FieldData', 'With', 'GivenOptions', 'GlobText'])

function isTopLevel(declaration: ts.Declaration): boolean {
  return ts.isSourceFile(declaration.parent)
}

/** Names of types in what a declaration shows to the outside: no bodies, no private members. */
function mentionedTypes(declaration: ts.Node): ts.Identifier[] {
  const names: ts.Identifier[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node) || ts.isPropertyDeclaration(node) || isHidden(node)) return
    if (ts.isTypeReferenceNode(node)) {
      const { typeName } = node
      if (ts.isIdentifier(typeName)) names.push(typeName)
    }
    if (ts.isExpressionWithTypeArguments(node) && ts.isInterfaceDeclaration(node.parent.parent)) {
      if (ts.isIdentifier(node.expression)) names.push(node.expression)
    }
    ts.forEachChild(node, visit)
  }
  if (ts.isVariableDeclaration(declaration)) {
    if (declaration.type) visit(declaration.type)
  } else visit(declaration)
  return names
}

function isHidden(node: ts.Node): boolean {
  if (!ts.isClassElement(node)) return false
  if (node.name && ts.isPrivateIdentifier(node.name)) return true
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected
  return (ts.getCombinedModifierFlags(node) & hidden) !== 0
}

describe('option objects', () => {
  /** Exported `…Options` and `…Limits`, and objects that methods of the crawler take. */
  const members = [...optionMembers()]

  function* optionMembers(): Generator<[name: string, member: ts.PropertySignature]> {
    for (const symbol of exported) {
      for (const declaration of symbol.declarations ?? []) {
        if (ts.isInterfaceDeclaration(declaration) && /(Options|Limits)$/.test(symbol.name)) {
          yield* keysOf(symbol.name, declaration.members)
        }
        if (ts.isClassDeclaration(declaration) && symbol.name === 'Crawler') yield* inlineKeys(declaration)
      }
    }
    for (const settings of SETTINGS) yield* inlineKeys(settings)
  }

  function* inlineKeys(where: ts.Node): Generator<[string, ts.PropertySignature]> {
    const found: [string, ts.PropertySignature][] = []
    const visit = (node: ts.Node): void => {
      if (ts.isParameter(node) && node.type) {
        const method = (node.parent as ts.MethodDeclaration).name?.getText() ?? '?'
        const look = (type: ts.Node): void => {
          // The arguments of a function that is an option are no options.
          if (ts.isFunctionTypeNode(type)) return
          if (ts.isTypeLiteralNode(type)) found.push(...keysOf(method, type.members))
          ts.forEachChild(type, look)
        }
        look(node.type)
      }
      ts.forEachChild(node, visit)
    }
    visit(where)
    yield* found
  }

  function* keysOf(owner: string, list: Iterable<ts.TypeElement>): Generator<[string, ts.PropertySignature]> {
    for (const member of list) {
      if (ts.isPropertySignature(member)) yield [`${owner}.${member.name.getText()}`, member]
    }
  }

  test('there are some', () => {
    expect(members.length).toBeGreaterThan(60)
  })

  test('every key has a doc comment', () => {
    const bare = members.filter(([, member]) => ts.getJSDocCommentsAndTags(member).length === 0)
    expect(bare.map(([name]) => name)).toEqual([])
  })

  test('every optional key accepts undefined under exactOptionalPropertyTypes', () => {
    const strict = members.filter(([, member]) => {
      if (member.questionToken === undefined || member.type === undefined) return false
      const type = checker.getTypeFromTypeNode(member.type)
      if (type.flags & ts.TypeFlags.Unknown) return false
      const parts = type.isUnion() ? type.types : [type]
      return !parts.some((part) => part.flags & ts.TypeFlags.Undefined)
    })
    expect(strict.map(([name]) => name)).toEqual([])
  })
})

describe('what an editor shows', () => {
  const DATA: readonly (readonly [steps: string, shown: string])[] = [
    ['', 'object'],
    [".extract({ a: () => 'x' })", '{ a: string; }'],
    [".extract({ a: () => 'x' }).extract({ b: async () => 1 }).depth(2)", '{ a: string; b: number; }'],
    [".extract(link).extract({ a: () => 'x' })", '{ a: string; d: number; }'],
    [".extract<{ c: boolean }>(new URL('file:///x.js'))", '{ c: boolean; }'],
    [".extract('a-package')", 'object'],
  ]

  /** The types of `page.data` in a program, in order. */
  function shownData(text: string): string[] {
    const path = join(PROJECT, 'HOVER.ts')
    const options = program.getCompilerOptions()
    const host = ts.createCompilerHost(options)
    const { getSourceFile, fileExists } = host
    host.fileExists = (file) => file === path || fileExists(file)
    host.getSourceFile = (file, ...rest) =>
      file === path
        ? ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true)
        : getSourceFile(file, ...rest)
    const own = ts.createProgram({ rootNames: [path], options, host, oldProgram: program })
    const types = own.getTypeChecker()
    const shown: string[] = []
    const visit = (node: ts.Node): void => {
      if (ts.isPropertyAccessExpression(node) && node.name.text === 'data') {
        shown.push(types.typeToString(types.getTypeAtLocation(node)))
      }
      ts.forEachChild(node, visit)
    }
    visit(own.getSourceFile(path)!)
    return shown
  }

  test('page.data is written out, in a loop and in a listener', () => {
    const uses = DATA.flatMap(([steps]) => [
      `for await (const page of new Crawler()${steps}) page.data`,
      `new Crawler()${steps}.start().on('page', (page) => page.data)`,
    ])
    const head =
      "import { Crawler, type Extractor } from 'kumo'\ndeclare const link: Extractor<{ d: number }>\n"
    expect(shownData(head + uses.join('\n'))).toEqual(DATA.flatMap(([, shown]) => [shown, shown]))
  })
})
