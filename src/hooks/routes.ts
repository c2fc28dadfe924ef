import { invalidOption, KumoError, optionError } from '../errors.js'
import type { Page } from '../extract/contract.js'
import { compileGlob } from '../url/scope/glob.js'
import type { Hook } from './contract.js'

const DEFAULT = 'default'

/** The hook that gives each page to one handler. */
export class RouteTable implements Hook {
  readonly name = 'routes'
  readonly #handlers: ReadonlyMap<string, (page: Page) => unknown>
  readonly #patterns: readonly { readonly matches: (url: string) => boolean; readonly key: string }[]

  /** @throws KumoError `KUMO_INVALID_OPTION` */
  constructor(routes: unknown, before?: RouteTable) {
    if (typeof routes !== 'object' || routes === null || Array.isArray(routes))
      throw invalidOption('routes', routes, 'an object such as { list: (page) => …, default: (page) => … }')
    const entries = Object.entries(routes)
    if (entries.length === 0) throw optionError('routes', 'no handler', 'at least one')
    for (const [key, handler] of entries) {
      if (typeof handler !== 'function') throw invalidOption(`routes['${key}']`, handler, 'a function')
      if (key === '') throw optionError('routes', 'an empty label', "a label, a pattern or 'default'")
    }
    this.#handlers = new Map([...(before === undefined ? [] : before.#handlers), ...entries])
    this.#patterns = [...this.#handlers.keys()]
      .filter(isPattern)
      .map((key) => ({ key, matches: compileGlob(key) }))
  }

  page(page: Page): Promise<void> {
    const handler = this.#handlerOf(page)
    if (handler === undefined) throw noRoute(page)
    // The crawl waits for what the handler returns.
    return handler(page) as Promise<void>
  }

  #handlerOf({ url, request: { label } }: Page): ((page: Page) => unknown) | undefined {
    const byLabel = label === undefined ? undefined : this.#handlers.get(label)
    if (byLabel !== undefined) return byLabel
    const key = this.#patterns.find(({ matches }) => matches(url))?.key
    return this.#handlers.get(key ?? DEFAULT)
  }
}

/** A path, a URL, or a host with wildcards; anything else is a label. */
function isPattern(key: string): boolean {
  return key.startsWith('/') || key.includes('://') || key.includes('*')
}

function noRoute({ url, request: { label } }: Page): KumoError {
  const what = label === undefined ? 'it has no label' : `nothing is named '${label}'`
  const message = `no route: ${what}, and no pattern matches; give routes() a handler for ${url}, or 'default'`
  return new KumoError('KUMO_NO_ROUTE', message)
}
