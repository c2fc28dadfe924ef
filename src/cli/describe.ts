/** Makes a crawler of what a command line asks for, and says in its words what cannot be had. */

import { KumoError } from '../errors.js'
import { Crawler, type LevelOptions, level, type Store } from '../index.js'
import { CRAWL_OPTIONS } from './crawl/options.js'
import { Misuse } from './misuse.js'

type Options = ReadonlyMap<string, readonly string[]>

/** The crawler for these URLs and options; without those that the command itself sees to. */
export function describe(urls: readonly string[], options: Options): Crawler {
  let crawler = new Crawler()
  if (urls.length > 0) crawler = crawler.seeds(urls.map(checkUrl))
  for (const [name, values] of options) {
    const { to } = CRAWL_OPTIONS[name]!
    if (to !== undefined) crawler = naming(name, () => to(crawler, values.at(-1)!, values))
  }
  const store = storeOf(options)
  return store === undefined ? crawler : crawler.store(store)
}

function storeOf(options: Options): Store | undefined {
  const path = options.get('store')?.at(-1)
  let store = path === undefined ? undefined : level(path)
  let settings: LevelOptions = {}
  for (const [name, values] of options) {
    const { ofStore } = CRAWL_OPTIONS[name]!
    if (ofStore === undefined) continue
    if (path === undefined) throw new Misuse(`--${name} is about a store: give --store DIR with it`)
    settings = { ...settings, ...ofStore(values.at(-1)!) }
    store = naming(name, () => level(path, settings))
  }
  return store
}

/** To a parser `localhost:8080/` has the scheme `localhost`; to people it has a port. */
const SCHEME = /^[a-z][a-z\d+.-]*:(?!\d)/i
/** Hosts that hardly ever have a certificate. */
const LOCAL = /^(localhost|127\.|\[::1\])/i

function checkUrl(given: string): string {
  if (!SCHEME.test(given)) {
    const better = `${LOCAL.test(given) ? 'http' : 'https'}://${given.replace(/^\/+/, '')}`
    const advice = canCrawl(better) ? `did you mean ${better}?` : 'write it as in https://example.com/'
    throw new Misuse(`'${given}' has no scheme; ${advice}`)
  }
  if (!canCrawl(given)) throw new Misuse(`'${given}' is not an http or https URL`)
  return given
}

function canCrawl(url: string): boolean {
  try {
    new Crawler().seeds(url)
    return true
  } catch {
    return false
  }
}

/** What the builder or the table says about a value, with the option as it was typed. */
function naming<T>(name: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (error instanceof Misuse) throw new Misuse(`--${name}: ${error.message}`)
    if (!(error instanceof KumoError)) throw error
    throw new Misuse(`--${name}: ${error.message.replace(/^([\w.]+: )+/, '')}`)
  }
}
