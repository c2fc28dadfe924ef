/**
 * Whole sites, made up: each is crawled breadth first through the canonicalizer, the parameter filter, the traps and the
 * comparison of contents, as the engine does it. Endless sites must end, and an honest one must be crawled to the last
 * page.
 */

import { describe, expect, it, test } from 'vitest'
import { sameContent } from '../../../src/extract/digest/same-content.js'
import { seededRandom } from '../../../src/time.js'
import { canonicalizeUrl, hostOf } from '../../../src/url/canonicalize.js'
import { parameterFilter, SESSION_PARAMETERS } from '../../../src/url/tracking.js'
import { type TrapOptions, traps } from '../../../src/url/traps/traps.js'

/** The links of a page as written, and its text. */
interface MadePage {
  readonly text: string
  readonly hrefs: readonly string[]
}

type Site = (url: URL) => MadePage

interface Crawled {
  readonly fetched: ReadonlySet<string>
  readonly skips: Readonly<Record<string, number>>
  /** Pages whose links were not followed. */
  readonly unfollowed: readonly string[]
  readonly ended: boolean
}

const ORIGIN = 'https://example.com'

function crawl(site: Site, most: number, options: TrapOptions = {}): Crawled {
  const bounds = traps(options)
  const contents = sameContent()
  const clean = parameterFilter(SESSION_PARAMETERS)
  const skips: Record<string, number> = {}
  const unfollowed: string[] = []
  const seen = new Set([`${ORIGIN}/`])
  const fetched = new Set<string>()
  for (const url of seen) {
    if (fetched.size === most) return { fetched, skips, unfollowed, ended: false }
    fetched.add(url)
    const { text, hrefs } = site(new URL(url))
    const html = `<title>Made</title><p>${text}</p>${hrefs.map((href) => `<a href="${href}">x</a>`).join('\n')}`
    if (contents.isRepeated(hostOf(url), url, Buffer.from(html))) {
      unfollowed.push(url)
      skips['same-content'] = unfollowed.length
      continue
    }
    for (const href of hrefs) {
      const link = clean(canonicalizeUrl(href, url)!)
      if (seen.has(link)) continue
      const reason = bounds.check(link)
      if (reason === undefined) seen.add(link)
      else skips[reason] = (skips[reason] ?? 0) + 1
    }
  }
  return { fetched, skips, unfollowed, ended: true }
}

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
)

const calendarInQuery: Site = (url) => {
  const month = Number(url.searchParams.get('month') ?? 24_000)
  const event = month % 7 === 0 ? wordOf(month) : 'nothing'
  const hrefs = [`/?month=${month - 1}`, `/?month=${month + 1}`, `/?month=${month}&view=list`]
  return { text: `${MONTHS[((month % 12) + 12) % 12]} ${Math.floor(month / 12)}: ${event}`, hrefs }
}

const calendarInPath: Site = (url) => {
  const [, year = '2024', month = '5'] = /^\/(-?\d+)\/(\d+)/.exec(url.pathname) ?? []
  const at = Number(year) * 12 + Number(month) - 1
  const path = (n: number) => `/${Math.floor(n / 12)}/${(((n % 12) + 12) % 12) + 1}/`
  const days = Array.from({ length: 28 }, (_, day) => `${path(at)}${day + 1}`)
  return { text: MONTHS[((at % 12) + 12) % 12]!, hrefs: [path(at - 1), path(at + 1), ...days] }
}

/** A new session in the links of every page; the shop behind it has forty pages. */
const sessionSite = (link: (session: string, page: number) => string, pages = 40): Site => {
  const random = seededRandom(9)
  const session = () =>
    Math.floor(random.next() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
      .repeat(3)
  return (url) => {
    const page = Number(/page(\d+)/.exec(url.href)?.[1] ?? 0)
    const own = session()
    const hrefs = Array.from({ length: 10 }, (_, i) => link(own, (page * 3 + i) % pages))
    return { text: `All about ${wordOf(page)}. You are visitor ${Math.floor(random.next() * 1e6)}.`, hrefs }
  }
}

const mirror = (names: readonly string[], isAbsolute: boolean): Site => {
  return (url) => {
    const last = url.pathname.split('/').at(-2)!
    return { text: `about ${last}`, hrefs: names.map((name) => `${isAbsolute ? url.pathname : ''}${name}/`) }
  }
}

function wordOf(n: number): string {
  return `w${Math.abs(n)
    .toString(26)
    .replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)]!)}`
}

describe('an endless site ends by itself', () => {
  const TEN = 'news shop blog help team jobs docs wiki forum about'.split(' ')

  test.each<[what: string, site: Site, within: number]>([
    ['a calendar in the query', calendarInQuery, 2500],
    ['a calendar in the path', calendarInPath, 20_000],
    ['a session in the path', sessionSite((id, page) => `/s/${id}/page${page}`), 10_000],
    ['a session in the query', sessionSite((id, page) => `/page${page}?session=${id}`), 10_000],
    [
      'a short session number',
      sessionSite((id, page) => `/${parseInt(id.slice(0, 5), 16)}/page${page}`),
      10_000,
    ],
    ['a session in a path parameter', sessionSite((id, page) => `/page${page};jsessionid=${id}`), 41],
    ['a mirror of two directories', mirror(['a', 'b'], false), 500],
    ['a mirror of ten directories', mirror(TEN, false), 5000],
    ['a mirror with absolute links', mirror(TEN, true), 5000],
  ])('%s', (what, site, within) => {
    const { fetched, skips, ended } = crawl(site, 50_000)
    console.log(`${what}: ${fetched.size} pages, ${JSON.stringify(skips)}`)
    expect(ended).toBe(true)
    expect(fetched.size).toBeLessThanOrEqual(within)
  })

  it('and without these bounds it does not', () => {
    const free = { urlLength: Infinity, pathDepth: Infinity, pathRepeats: Infinity, queriesPerPath: Infinity }
    expect(crawl(calendarInQuery, 20_000, free).ended).toBe(false)
  })
})

/**
 * An honest site of some 100,000 pages: articles in deep directories, list pages that name their items by number only,
 * items by id in the query (900 on one path), and 2,000 dead links that all show the same page.
 */
function honestSite(): { site: Site; pages: ReadonlySet<string> } {
  const DIRECTORIES = 300
  const LISTS = 300
  const DIRECTORY_DEPTH = 6
  const pages = new Set<string>([`${ORIGIN}/`])
  const add = (path: string) => {
    pages.add(ORIGIN + path)
    return path
  }
  const directory = (d: number) => `/en/archive/${2000 + (d % 25)}/01/01/${wordOf(d)}/`
  const directories = Array.from({ length: DIRECTORIES }, (_, d) => add(directory(d)))
  const numbers = new Map(directories.map((path, d) => [path, d]))
  const articles = directories.map((path) =>
    Array.from({ length: 300 }, (_, a) => add(`${path}en/part/${a % 12}/${a}/${wordOf(a)}.html`)),
  )
  const lists = Array.from({ length: LISTS }, (_, l) => add(`/photos/?page=${l + 1}`))
  const photos = lists.map((_, l) => Array.from({ length: 30 }, (_, p) => add(`/photos/${l * 30 + p}`)))
  const items = Array.from({ length: 900 }, (_, i) => add(`/item?id=${i}`))
  const dead = Array.from({ length: 2000 }, (_, i) => add(`/gone/${wordOf(i)}`))
  const site: Site = ({ pathname, search }) => {
    const path = pathname + search
    const page = Number(new URLSearchParams(search).get('page'))
    if (path === '/') return { text: 'Welcome', hrefs: [...directories, lists[0]!] }
    if (page > 0) return { text: `Photos, page ${page}`, hrefs: [...photos[page - 1]!, lists[page] ?? '/'] }
    if (pathname.startsWith('/photos/'))
      return { text: `Photo ${pathname.slice(8)}`, hrefs: ['/photos/?page=1'] }
    if (pathname === '/item') return { text: `The ${wordOf(Number(search.slice(4)))}`, hrefs: ['/'] }
    if (pathname.startsWith('/gone/')) return { text: 'This page has gone.', hrefs: ['/', '/photos/?page=1'] }
    const at = numbers.get(`${pathname.split('/', DIRECTORY_DEPTH + 1).join('/')}/`)!
    const hrefs =
      pathname === directories[at] ? articles[at]! : [items[at * 3]!, items[at * 3 + 1]!, items[at * 3 + 2]!]
    const more = pathname === directories[at] ? dead.slice(at * 7, at * 7 + 7) : ['/', directories[at]!]
    return { text: `On ${wordOf(at)} and ${wordOf(pathname.length)} ${pathname}`, hrefs: [...hrefs, ...more] }
  }
  return { site, pages }
}

describe('an honest large site', () => {
  it('loses no page', () => {
    const { site, pages } = honestSite()
    const { fetched, skips, unfollowed } = crawl(site, 200_000)
    const lost = [...pages].filter((url) => !fetched.has(url))
    console.log(`honest site: ${fetched.size} of ${pages.size} pages, ${JSON.stringify(skips)}`)
    expect(pages.size).toBeGreaterThan(100_000)
    expect(lost).toEqual([])
    expect(Object.keys(skips)).toEqual(['same-content'])
    // Dead pages, and pages of single photos: their links lead where those of the first ten led already.
    expect(unfollowed.filter((url) => !/\/(gone\/\w+|photos\/\d+)$/.test(url))).toEqual([])
  })
})
