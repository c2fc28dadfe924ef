/** Builds a crawler from the arguments of a command line; its errors name options as they were typed. */

import { KumoError } from '../errors.js'
import { Crawler, type LevelOptions, level, type RequestOptions, type Store } from '../index.js'
import { redis } from '../stores/redis/index.js'
import type { CrawlOption } from './crawl/options.js'
import { UsageError } from './usage-error.js'

type Options = ReadonlyMap<string, readonly string[]>
type Table = Readonly<Record<string, CrawlOption>>

/** Applies the URLs and every option that has a builder method; the command handles the others. */
export function buildCrawler(urls: readonly string[], options: Options, table: Table): Crawler {
  let crawler = new Crawler()
  const checked = urls.map(checkUrl)
  if (urls.length > 0) crawler = withOptionName('label', () => crawler.seeds(checked.map(labelled(options))))
  for (const [name, values] of options) {
    const { apply: to } = table[name]!
    if (to !== undefined) crawler = withOptionName(name, () => to(crawler, values.at(-1)!, values))
  }
  const store = storeOf(options, table)
  return store === undefined ? crawler : crawler.store(store)
}

/** Gives a URL the label of `--label`. */
export function labelled(options: Options): (url: string) => string | RequestOptions {
  const label = options.get('label')?.at(-1)
  return (url) => (label === undefined ? url : { url, label })
}

function storeOf(options: Options, table: Table): Store | undefined {
  const path = options.get('store')?.at(-1)
  const isRedis = path !== undefined && /^rediss?:/i.test(path)
  if (isRedis) {
    const other = [...options.keys()].find((name) => table[name]!.storeOptions !== undefined)
    if (other !== undefined) throw new UsageError(`--${other} is about a folder: it does not work with Redis`)
    return withOptionName('store', () => redis(path))
  }
  let store = path === undefined ? undefined : level(path)
  let settings: LevelOptions = {}
  for (const [name, values] of options) {
    const { storeOptions: ofStore } = table[name]!
    if (ofStore === undefined) continue
    if (path === undefined) throw new UsageError(`--${name} is about a store: give --store DIR with it`)
    settings = { ...settings, ...ofStore(values.at(-1)!) }
    store = withOptionName(name, () => level(path, settings))
  }
  return store
}

/** A URL parser reads `localhost:8080/` as the scheme `localhost`; people mean a port. */
const SCHEME = /^[a-z][a-z\d+.-]*:(?!\d)/i
/** Hosts that rarely have a certificate. */
const LOCAL = /^(localhost|127\.|\[::1\])/i

function checkUrl(given: string): string {
  if (!SCHEME.test(given)) {
    const better = `${LOCAL.test(given) ? 'http' : 'https'}://${given.replace(/^\/+/, '')}`
    const advice = canCrawl(better) ? `did you mean ${better}?` : 'write it as in https://example.com/'
    throw new UsageError(`'${given}' has no scheme; ${advice}`)
  }
  if (!canCrawl(given)) throw new UsageError(`'${given}' is not an http or https URL`)
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

/** Prefixes the builder's error with the option as it was typed. */
export function withOptionName<T>(name: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`--${name}: ${error.message}`)
    if (!(error instanceof KumoError)) throw error
    throw new UsageError(`--${name}: ${error.message.replace(/^([\w.]+: )+/, '')}`)
  }
}
