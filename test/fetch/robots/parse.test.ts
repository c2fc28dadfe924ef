/** Published robots.txt cases, and the answers of Google's matcher for files of real sites. */

import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { escapePattern } from '../../../src/fetch/robots/group.js'
import { bytesOf, byteText, readLines } from '../../../src/fetch/robots/lines.js'
import { parseRobots, pathAndQuery, productName } from '../../../src/fetch/robots/parse.js'
import { suiteFile } from '../support.js'

const jsonOf = <T>(name: string): T[] => {
  const file = suiteFile(`robots/${name}`)
  if (file === undefined) console.log(`robots/${name}: skipped, the suites are not at hand`)
  return file === undefined ? [] : JSON.parse(file.toString())
}

interface GoogleCase {
  readonly test: string
  readonly line: number
  readonly googleOnly: boolean
  readonly robots: string
  readonly agent: string
  readonly url: string
  readonly allowed: boolean
}

interface BytesCase {
  readonly name: string
  readonly robots_b64: string
  readonly agent: string
  readonly url: string
  readonly allowed: boolean
}

interface StructuralCase {
  readonly kind: string
  readonly name?: string
  readonly robots_b64?: string
  readonly valid_directives?: number
  readonly sitemaps?: string[]
  readonly agent?: string
  readonly valid?: boolean
  readonly input?: string
  readonly expected?: string
}

const google = jsonOf<GoogleCase>('google_robots_test.json')
const derived = jsonOf<BytesCase>('google_derived_bytes.json')
const structural = jsonOf<StructuralCase>('google_structural.json')
const sample = suiteFile('robots/real_sample.jsonl.gz')

describe("Google's cases", () => {
  it.skipIf(google.length === 0)('are all answered alike, those beyond the standard too', () => {
    const wrong = google.filter(
      ({ robots, agent, url, allowed }) => parseRobots(robots).allows(url, agent) !== allowed,
    )
    const ofStandard = google.filter(({ googleOnly }) => !googleOnly)
    console.log(
      `robots: ${google.length - wrong.length} of ${google.length} of Google's cases, ` +
        `${ofStandard.filter((one) => !wrong.includes(one)).length} of ${ofStandard.length} of RFC 9309`,
    )
    expect(wrong.map(({ test, line }) => `${test} ${line}`)).toEqual([])
  })

  it.skipIf(derived.length === 0)('with odd bytes are answered alike, as bytes and as text', () => {
    const wrong: string[] = []
    for (const { name, robots_b64, agent, url, allowed } of derived) {
      const bytes = Buffer.from(robots_b64, 'base64')
      for (const text of [bytes, bytes.toString(), new TextDecoder().decode(bytes)]) {
        if (parseRobots(text).allows(url, agent) !== allowed) wrong.push(`${name} ${agent} ${url}`)
      }
    }
    console.log(`robots: ${derived.length - wrong.length} of ${derived.length} cases with odd bytes`)
    expect(wrong).toEqual([])
  })

  it.skipIf(structural.length === 0)('about structure are met', () => {
    // Google's matcher refuses to be asked about a name that is none; ours takes whole user agents, and looks for the
    // name in them.
    const refused = structural.filter(({ kind, valid }) => kind === 'validUserAgentToObey' && !valid)
    expect(refused.map(({ agent }) => agent)).toEqual([
      '',
      'ツ',
      'Foobot*',
      ' Foobot ',
      'Foobot/2.1',
      'Foobot Bar',
    ])
    const others = structural.filter((one) => !refused.includes(one))
    const wrong = others.filter((one) => !holds(one))
    console.log(
      `robots: ${others.length - wrong.length} of ${structural.length} structural cases, ${refused.length} do not apply`,
    )
    expect(wrong).toEqual([])
  })

  function holds(one: StructuralCase): boolean {
    const bytes = Buffer.from(one.robots_b64 ?? '', 'base64')
    switch (one.kind) {
      case 'lineEndings':
      case 'bom': {
        let lines = 0
        readLines(byteText(bytes), () => lines++)
        return lines === one.valid_directives
      }
      case 'sitemap':
        return parseRobots(bytes).sitemaps.join() === one.sitemaps!.join()
      case 'validUserAgentToObey':
        return !parseRobots(`User-agent: ${one.agent}\nDisallow: /`).allows('/', one.agent!)
      case 'getPathParamsQuery':
        return pathAndQuery(one.input!) === one.expected
      case 'escapePattern':
        return escapePattern(bytesOf(one.input!)) === one.expected
      default:
        return false
    }
  }
})

it.skipIf(sample === undefined)('files of real sites are answered as by Google', () => {
  let asked = 0
  let tooPermissive = 0
  const differing: string[] = []
  for (const row of gunzipSync(sample!).toString().trim().split('\n')) {
    const { file, robots_b64, questions } = JSON.parse(row) as {
      file: string
      robots_b64: string
      questions: [agent: string, url: string, allowed: boolean][]
    }
    const robots = parseRobots(Buffer.from(robots_b64, 'base64'))
    for (const [agent, url, allowed] of questions) {
      asked++
      if (robots.allows(url, agent) === allowed) continue
      differing.push(`${file} ${agent} ${url}`)
      if (!allowed) tooPermissive++
    }
  }
  const share = (count: number) => `${((100 * count) / asked).toFixed(3)} %`
  console.log(
    `robots: ${share(asked - differing.length)} of ${asked} real questions agree, ${share(tooPermissive)} too permissive`,
  )
  expect(asked).toBeGreaterThan(20_000)
  expect(differing).toEqual([])
})

describe('a file', () => {
  const allows = (text: string | Uint8Array, url: string, agent = 'Kumo') =>
    parseRobots(text).allows(url, agent)

  it.each([
    ['in UTF-16, little-endian', Buffer.from('\ufeffUser-agent: *\nDisallow: /x', 'utf16le')],
    ['in UTF-16, big-endian', Buffer.from('\ufeffUser-agent: *\nDisallow: /x', 'utf16le').swap16()],
    ['with a byte order mark', '\ufeffUser-agent: *\nDisallow: /x'],
    ['with spaces everywhere', ' \t User-agent :  * \n\v Disallow\t: \t/x  '],
    ['with misspelt fields', 'useragent: *\ndissalow: /x'],
    ['with words behind the fields', 'User-agents: *\nDisallowed: /x'],
    ['without colons', 'User-agent *\nDisallow\t/x'],
    ['with comments', '# a\nUser-agent: * # b: c\nDisallow: /x# d\n#Allow: /x'],
    ['with a star and more', 'User-agent: * (all)\nDisallow: /x'],
  ])('%s is read', (_, text) => {
    expect([allows(text, '/x'), allows(text, '/y')]).toEqual([false, true])
  })

  it.each([
    ['that is a page', '<html><a href="https://example.com/">User-agent: *</a>\n<p>Disallow: /'],
    ['with rules before any agent', 'Disallow: /\nUser-agent: other\nDisallow: /'],
    ['with three words and no colon', 'User-agent: *\nDisallow / x'],
    ['with a field of two words and no value', 'user agent\nUser-agent: *\nDisallow:'],
    ['with a mark amid the lines', 'User-agent: *\n\ufeffDisallow: /'],
  ])('%s closes nothing', (_, text) => {
    expect(allows(text, '/x')).toBe(true)
  })

  it('in another charset keeps its bytes', () => {
    const latin1 = Buffer.from('User-agent: *\nDisallow: /caf\xe9', 'latin1')
    expect([allows(latin1, '/caf%E9'), allows(latin1, '/caf%C3%A9')]).toEqual([false, true])
  })

  it('is read up to 500 KiB, and no line by half', () => {
    const rule = 'User-agent: *\nDisallow: /private'
    const pad = (bytes: number) => `${'#'.repeat(bytes - 1)}\n`
    for (const encode of [(text: string) => text, (text: string) => Buffer.from(text)]) {
      expect(allows(encode(pad(500 * 1024 - rule.length) + rule), '/private')).toBe(false)
      // One byte more, and the last line would end after `/privat`.
      expect(allows(encode(pad(500 * 1024 - rule.length + 1) + rule), '/private')).toBe(true)
      expect(allows(encode(`${rule}\n${pad(2_000_000)}`), '/private')).toBe(false)
    }
    const wide = Buffer.from(`\ufeffUser-agent: *\n${pad(255_970)}Disallow: /private`, 'utf16le')
    expect(wide.length).toBeGreaterThan(500 * 1024)
    expect(allows(wide, '/private')).toBe(true)
  })
})

/** RFC 9309, 2.2.3: `$` and `*` are written as escapes where they do not stand for something else. */
const SPECIAL: [rule: string, closed: string[], open: string[]][] = [
  ['/path/foo-%24', ['/path/foo-$', '/path/foo-%24', '/path/foo-$/x'], ['/path/foo-', '/path/foo-x']],
  ['/path/foo-%24$', ['/path/foo-$', '/path/foo-%24'], ['/path/foo-$x', '/path/foo-']],
  ['/a%24b', ['/a$b', '/a%24b'], ['/ab', '/a']],
  ['/a$b', ['/a$b', '/a%24b'], ['/a', '/ab']],
  ['/*$api', ['/x$api', '/x%24api/y'], ['/x', '/api']],
  ['/a$$', ['/a$', '/a%24'], ['/a', '/a$b', '/a$$']],
  ['/a$', ['/a'], ['/a$', '/a%24']],
  ['/b-%2A', ['/b-*', '/b-%2A', '/b-%2a/x', '/b-**'], ['/b-', '/b-x']],
  ['/b-%2a$', ['/b-*', '/b-%2A', '/b-%2a'], ['/b-x', '/b-*x']],
  ['/c*%2A*%24', ['/c*$', '/cx%2ax%24x', '/c*%24'], ['/c$*', '/cxx']],
  ['/q?a=%24*', ['/q?a=$1', '/q?a=%241'], ['/q?a=1']],
  ['/e%2f%C3%a9', ['/e%2F%c3%A9', '/e%2f%c3%a9/x'], ['/e/%C3%A9']],
]

it.each(SPECIAL)('%s closes %j and not %j', (rule, closed, open) => {
  const robots = parseRobots(`User-agent: *\nDisallow: ${rule}`)
  expect([...closed, ...open].filter((path) => !robots.allows(path, 'Kumo'))).toEqual(closed)
})

it('two spellings of one rule are one rule, and the one that allows decides', () => {
  for (const [allowed, closed] of [
    ['/a$b', '/a%24b'],
    ['/a%24b', '/a$b'],
    ['/a%2ab', '/a%2Ab'],
  ]) {
    const robots = parseRobots(`User-agent: *\nDisallow: ${closed}\nAllow: ${allowed}\nDisallow: /a`)
    expect(robots.allows(allowed!, 'Kumo')).toBe(true)
    expect(robots.allows('/ab', 'Kumo')).toBe(false)
  }
  const longer = parseRobots('User-agent: *\nDisallow: /*$api\nAllow: /123456')
  expect(longer.allows('/123456$api', 'Kumo')).toBe(true)
})

describe('a name', () => {
  const text =
    'User-agent: Kumo/2 (x)\nDisallow: /kumo\n\nUser-agent: mj12bot\nDisallow: /mj\n\nUser-agent: *\nDisallow: /all'
  it.each([
    ['Kumo', '/kumo'],
    ['kUMO', '/kumo'],
    ['Kumo/0.1 (+https://example.com/bot)', '/kumo'],
    ['Mozilla/5.0 (compatible; Kumo/0.1)', '/kumo'],
    ['Kumobot', '/all'],
    ['Kum', '/all'],
    ['Kumo two', '/all'],
    // The standard has no digits in names; a crawler that has them is still meant by its whole name.
    ['MJ12bot/v1.4', '/mj'],
    ['MJ', '/mj'],
    ['mj12', '/all'],
    ['*', '/all'],
    ['', '/all'],
  ])('%j is closed out of %s', (agent, closed) => {
    const robots = parseRobots(text)
    expect(['/kumo', '/mj', '/all'].filter((path) => !robots.allows(path, agent))).toEqual([closed])
  })

  it('may be any of a great many', () => {
    const agents = Array.from({ length: 100 }, (_, i) => `bot${'x'.repeat(i)}`)
    const robots = parseRobots(agents.map((agent) => `User-agent: ${agent}\nDisallow: /${agent}$`).join('\n'))
    for (const agent of [...agents, ...agents]) {
      expect(agents.filter((path) => !robots.allows(`/${path}`, agent))).toEqual([agent])
    }
  })

  it('that a user agent contains is found', () => {
    expect(productName('Mozilla/5.0 (compatible; Kumo/0.1; +https://example.com)')).toBe('Kumo')
  })
})

describe('Crawl-delay', () => {
  it.each([
    ['User-agent: *\nCrawl-delay: 2.5', 2.5],
    ['User-agent: *\nCrawl-delay: 10 seconds', 10],
    ['User-agent: *\nCrawl-delay: 0', 0],
    ['User-agent: *\nCrawl-delay: 1\nCrawl-delay: 3\nCrawl-delay: 2', 3],
    ['User-agent: *\nCrawl-delay: soon\nCrawl-delay: -1\nCrawl-delay:', undefined],
    ['Crawl-delay: 5\nUser-agent: *\nDisallow: /x', undefined],
    // A delay belongs to the names right above it, though it does not end their group.
    ['User-agent: other\nCrawl-delay: 9\n\nUser-agent: *\nCrawl-delay: 1', 1],
    ['User-agent: Kumo\nCrawl-delay: 9\n\nUser-agent: *\nCrawl-delay: 1', 9],
    ['User-agent: Kumo\nDisallow: /x\n\nUser-agent: *\nCrawl-delay: 1', undefined],
    ['User-agent: Kumo\nUser-agent: other\nSitemap: /s\nCrawl-delay: 4', 4],
  ])('%j is %j s', (text, expected) => {
    expect(parseRobots(text).crawlDelay('Kumo')).toBe(expected)
  })
})

it('sitemaps are told as written, each once, wherever they stand', () => {
  const text =
    'Sitemap: /a.xml\nUser-agent: *\nSITEMAP: https://x.example/ü.xml # b\nsite-map:/a.xml\nSitemap:'
  expect(parseRobots(text).sitemaps).toEqual(['/a.xml', 'https://x.example/ü.xml'])
})
