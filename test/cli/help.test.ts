/** Help is instant, fits in 80 columns and lists every option; so does docs/cli.md. */

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CHECK_OPTIONS } from '../../src/cli/check/options.js'
import { CRAWL_OPTIONS } from '../../src/cli/crawl/options.js'
import { FEEDS_OPTIONS } from '../../src/cli/feeds/options.js'
import { helpText } from '../../src/cli/help.js'
import { INSPECT_OPTIONS } from '../../src/cli/inspect/options.js'
import { INDEX_OPTIONS, SEARCH_OPTIONS, SERVE_OPTIONS } from '../../src/cli/search/options.js'
import { WARC_OPTIONS } from '../../src/cli/warc/options.js'
import { PROJECT } from '../run-program.js'

const COLUMNS = 80

describe.each([undefined, 'crawl', 'check', 'feeds', 'index', 'search', 'serve', 'inspect', 'warc'] as const)(
  'help about %s',
  (topic) => {
    const text = helpText(topic)

    test('fits in 80 columns and ends with a newline', () => {
      expect(text.split('\n').filter((line) => line.length > COLUMNS)).toEqual([])
      expect(text).toMatch(/\S\n$/)
    })

    test('has examples', () => {
      expect(text).toMatch(/\nExamples:\n\n {2}kumo /)
    })
  },
)

test.each([
  ['crawl', CRAWL_OPTIONS],
  ['check', CHECK_OPTIONS],
  ['feeds', FEEDS_OPTIONS],
  ['index', INDEX_OPTIONS],
  ['search', SEARCH_OPTIONS],
  ['serve', SERVE_OPTIONS],
  ['inspect', INSPECT_OPTIONS],
  ['warc', WARC_OPTIONS],
] as const)('kumo %s: help and docs/cli.md have every option, and no other', (topic, options) => {
  const page = readFileSync(join(PROJECT, 'docs/cli.md'), 'utf8')
  const section = page.split(`\n## \`kumo ${topic}`)[1]!.split('\n## ')[0]!
  const names = Object.keys(options).sort()
  const inHelp = [...helpText(topic).matchAll(/^ {2}(?:-\w, )?--([\w-]+)/gm)].map(([, name]) => name)
  const inDocs = [...section.matchAll(/^\| (?:`-\w`, )?`--([\w-]+)/gm)].map(([, name]) => name)
  expect(inHelp.sort()).toEqual(names)
  expect([...inDocs, 'help'].sort()).toEqual(names)
})

/** The transitive static imports of a file, without types. */
function loaded(file: string, found = new Set<string>()): Set<string> {
  const source = readFileSync(join(PROJECT, 'src', file), 'utf8')
  for (const [, names = '', what = ''] of source.matchAll(/^(?:import|export) ([^;'"]*?)from '([^']+)'/gms)) {
    if (names.startsWith('type ')) continue
    const target = what.startsWith('.') ? join(dirname(file), what).replace(/\.js$/, '.ts') : what
    if (found.has(target)) continue
    found.add(target)
    if (what.startsWith('.')) loaded(target, found)
  }
  return found
}

test('help loads neither undici nor anything else that crawls', () => {
  const names = [...loaded('cli/main.ts')]
  expect(names).toEqual(expect.arrayContaining(['cli/help.ts', 'cli/crawl/options.ts', 'options/options.ts']))
  const light =
    /^(cli\/[\w/-]+\.ts|errors\.ts|fetch\/http\/defaults\.ts|options\/options\.ts|time\.ts|node:[\w]+)$/
  expect(names.filter((name) => !light.test(name))).toEqual([])
  expect([...loaded('cli/crawl/crawl.ts')]).toContain('crawler.ts')
})
