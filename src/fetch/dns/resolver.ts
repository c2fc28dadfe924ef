/**
 * A caching DNS resolver. `dns.lookup`, Node's default, runs in a pool of four threads that it shares with the file
 * system: a few dead names block every other. This resolver queries over sockets, many names at a time, each once, and
 * caches answers for their TTL.
 */

import { Resolver as DnsClient } from 'node:dns/promises'
import { isIP } from 'node:net'
import { invalidOption } from '../../errors.js'
import { type Clock, systemClock } from '../../time.js'
import { ExpiringCache } from './cache.js'
import { HostsFile } from './hosts-file.js'
import { type Address, type Answer, askBoth, type LookupCode } from './query.js'

/**
 * Host name → addresses, in the order in which they should be tried; at least one.
 *
 * Without an address it rejects with an error whose `code` is `ENOTFOUND`, `EAI_AGAIN`, `EAI_FAIL`, or `ECANCELLED`
 * after `close`; or `EMFILE`, if no socket could be opened. An IP address resolves to itself.
 */
export interface Resolver {
  resolve(host: string, how?: LookupOptions): Promise<readonly Address[]>
  close?(): void
}

export interface LookupOptions {
  /** The last visit to this host failed: a cached failure is ignored, and the name is queried again. */
  readonly isRetry?: boolean | undefined
}

export interface CachingResolverOptions {
  /** Name servers as `address` or `address:port`, queried in this order. Default: those of the system. */
  readonly servers?: readonly string[] | undefined
  /** How long each try may take at least; later ones may take longer. Default 2,000. */
  readonly timeoutMs?: number | undefined
  /** How often each server is asked before it counts as silent. Default 2, so a dead name takes 4 to 7 s. */
  readonly tries?: number | undefined
  /**
   * Names asked at the same time; others wait. Default 100: their 200 questions fit the receive buffer of a name
   * server of default size. Beyond that packets are dropped, and each dropped one costs a time-out.
   */
  readonly concurrency?: number | undefined
  /** Maximum number of cached names. Default 50,000, some 35 MB. */
  readonly maxEntries?: number | undefined
  /** Minimum time that addresses are cached. Default 60 s: load-balanced names have TTLs of a few seconds. */
  readonly minTtlMs?: number | undefined
  /** Maximum time that addresses are cached. Default 1 h. */
  readonly maxTtlMs?: number | undefined
  /** How long a name without address is cached, except for retries. Default 5 min. */
  readonly negativeTtlMs?: number | undefined
  /** How long a server failure or timeout is cached, except for retries. Default 5 s. */
  readonly failureTtlMs?: number | undefined
  /** Names in this file are not queried. Default: the system's hosts file; `false` for none. */
  readonly hostsFile?: string | false | undefined
  /** How often the hosts file is looked at for changes. Default 30 s. */
  readonly hostsCheckMs?: number | undefined
  /** Times what is remembered and each try. Default: real time. */
  readonly clock?: Clock | undefined
}

/** A resolver as `cachingResolver` makes it. */
export interface CachingResolver extends Resolver {
  /** Ends what is open with `ECANCELLED`; later look-ups too. */
  close(): void
}

const DEFAULTS = {
  timeoutMs: 2000,
  tries: 2,
  concurrency: 100,
  maxEntries: 50_000,
  minTtlMs: 60_000,
  maxTtlMs: 3_600_000,
  negativeTtlMs: 300_000,
  failureTtlMs: 5000,
  hostsCheckMs: 30_000,
}

const AT_LEAST_ONE: ReadonlySet<string> = new Set(['timeoutMs', 'tries', 'concurrency', 'maxEntries'])

const SYSTEM_HOSTS =
  process.platform === 'win32'
    ? `${process.env.SystemRoot ?? 'C:\\Windows'}\\System32\\drivers\\etc\\hosts`
    : '/etc/hosts'

/** RFC 1035. A longer name cannot be asked for. */
const LONGEST_NAME = 253

/** More than any crawl has requests under way; a caller that asks for more than this at once has a defect. */
const MOST_WAITING = 50_000

/** RFC 6761: these names are answered without a query. */
const LOOPBACK: readonly Address[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

const REASONS: Readonly<Record<LookupCode, string>> = {
  ENOTFOUND: 'has no address',
  EAI_AGAIN: 'could not be looked up, the name server did not answer',
  EAI_FAIL: 'could not be looked up, the name server failed',
  ECANCELLED: 'was not looked up, the resolver was closed',
  EMFILE: 'was not looked up, this process has too many open files',
}

/** Why a host name has no address. */
export class LookupError extends Error {
  override readonly name = 'LookupError'
  readonly syscall = 'resolve'

  constructor(
    readonly hostname: string,
    readonly code: LookupCode,
  ) {
    super(`${hostname} ${REASONS[code]}.`)
  }
}

/** Looks names up over DNS sockets, both families, with a bounded cache. */
export function cachingResolver(options: CachingResolverOptions = {}): CachingResolver {
  return new Lookups(options)
}

class Lookups implements CachingResolver {
  readonly #options: typeof DEFAULTS
  readonly #clock: Clock
  readonly #client: DnsClient
  /** Filled by `#askPatiently` for as long as each is asked. */
  readonly #patient = new Set<DnsClient>()
  readonly #servers: readonly string[] | undefined
  readonly #hosts: HostsFile | undefined
  readonly #cache: ExpiringCache<Answer>
  /** Names that are being asked or wait for their turn. Entered by the first who wants one, left when answered. */
  readonly #open = new Map<string, Promise<Answer>>()
  /** Filled when `concurrency` names are being asked, emptied one by one as those are answered. */
  readonly #waiting: (() => void)[] = []
  #asking = 0
  #closed = false

  constructor({
    servers,
    hostsFile = SYSTEM_HOSTS,
    clock = systemClock(),
    ...numbers
  }: CachingResolverOptions) {
    this.#options = withDefaults(numbers)
    this.#clock = clock
    this.#servers = servers
    this.#client = this.#newClient()
    if (hostsFile) this.#hosts = new HostsFile(hostsFile, this.#options.hostsCheckMs, clock)
    this.#cache = new ExpiringCache(this.#options.maxEntries)
  }

  async resolve(host: string, { isRetry = false }: LookupOptions = {}): Promise<readonly Address[]> {
    const name = host.replace(/^\[|[\].]$/g, '').toLowerCase()
    const family = isIP(name)
    if (family === 4 || family === 6) return [{ address: name, family }]
    if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK
    if (name === '' || name.length > LONGEST_NAME) throw new LookupError(host, 'ENOTFOUND')
    const listed = (await this.#hosts?.names())?.get(name)
    if (listed) return listed
    const known = this.#cache.get(name, this.#clock.now())
    const isGood = known !== undefined && !(isRetry && 'code' in known)
    const answer = isGood ? known : await this.#answer(name)
    if ('code' in answer) throw new LookupError(host, answer.code)
    return answer.addresses
  }

  close(): void {
    this.#closed = true
    // Those that are cancelled hand their places to those that wait, which find it closed.
    this.#client.cancel()
    for (const client of this.#patient) client.cancel()
    this.#cache.clear()
  }

  /** The answer to come, shared by all who want it. */
  #answer(name: string): Promise<Answer> {
    if (this.#closed) return Promise.resolve({ code: 'ECANCELLED' })
    const open = this.#open.get(name)
    if (open) return open
    if (this.#waiting.length >= MOST_WAITING) return Promise.resolve({ code: 'EAI_AGAIN' })
    const answer = this.#ask(name)
    this.#open.set(name, answer)
    return answer
  }

  async #ask(name: string): Promise<Answer> {
    if (this.#asking < this.#options.concurrency) this.#asking++
    else await new Promise<void>((begin) => this.#waiting.push(begin))
    // What waited may find that the resolver was closed meanwhile.
    const answer: Answer = this.#closed ? { code: 'ECANCELLED' } : await this.#askPatiently(name)
    // The longest waiting lookup takes over the slot; otherwise it is free.
    const next = this.#waiting.shift()
    if (next) next()
    else this.#asking--
    if (!this.#closed) this.#cache.set(name, answer, this.#clock.now() + this.#lifeOf(answer))
    this.#open.delete(name)
    return answer
  }

  /**
   * After some quick answers c-ares waits for five times their average only, 250 ms at first; a name whose own servers
   * are slow then has no chance. So what was given up early is asked once more by a client that has learned nothing yet.
   */
  async #askPatiently(name: string): Promise<Answer> {
    const { timeoutMs, tries } = this.#options
    const askedAt = this.#clock.now()
    const answer = await askBoth(this.#client, name, this.#clock)
    const isEarly = this.#clock.now() - askedAt < timeoutMs * tries
    if (this.#closed || !isEarly || !('code' in answer) || answer.code !== 'EAI_AGAIN') return answer
    const client = this.#newClient()
    this.#patient.add(client)
    const second = await askBoth(client, name, this.#clock)
    this.#patient.delete(client)
    return second
  }

  #newClient(): DnsClient {
    const client = new DnsClient({ timeout: this.#options.timeoutMs, tries: this.#options.tries })
    if (this.#servers) client.setServers(this.#servers)
    return client
  }

  #lifeOf(answer: Answer): number {
    const { minTtlMs, maxTtlMs, negativeTtlMs, failureTtlMs } = this.#options
    if ('code' in answer) {
      if (answer.code === 'EMFILE') return 0
      return answer.code === 'ENOTFOUND' ? negativeTtlMs : failureTtlMs
    }
    return Math.min(Math.max(answer.ttlMs, minTtlMs), maxTtlMs)
  }
}

/** Options that are given as `undefined` take their default too. */
function withDefaults(given: Partial<Record<keyof typeof DEFAULTS, number | undefined>>): typeof DEFAULTS {
  const options = { ...DEFAULTS }
  for (const key of Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[]) {
    const value = given[key]
    if (value === undefined) continue
    const least = AT_LEAST_ONE.has(key) ? 1 : 0
    if (!(value >= least)) throw invalidOption(`cachingResolver.${key}`, value, `a number, ${least} or more`)
    options[key] = value
  }
  return options
}
