/** The options of the Redis store, validated once. */

import { assertKeys, invalidOption, optionError } from '../../errors.js'
import { type Duration, parseDuration } from '../../time.js'

/** Where the server is. Fields that are absent are those of the URL, or the defaults of Redis. */
export interface RedisConnection {
  /** Default `'127.0.0.1'`. */
  host?: string | undefined
  /** Default 6379. */
  port?: number | undefined
  username?: string | undefined
  password?: string | undefined
  /** The number of the database. Default 0. */
  db?: number | undefined
  /**
   * TLS, with the options of Node's `tls.connect`, such as `ca`. `true`: with the certificates of the system, and those in
   * the file that `KUMO_REDIS_CA` names. Sentinels are asked in the same way.
   */
  tls?: boolean | Readonly<Record<string, unknown>> | undefined
  /** Sentinels to ask for the server. Needs `name`. */
  sentinels?: readonly { readonly host: string; readonly port: number }[] | undefined
  /** The name under which the Sentinels know the server. */
  name?: string | undefined
  sentinelUsername?: string | undefined
  sentinelPassword?: string | undefined
  /**
   * How many replicas must confirm a lease before hosts are visited, so that a server that has been replaced grants none.
   * Default 1 with Sentinels and where the server has replicas, otherwise 0.
   */
  replicas?: number | undefined
}

/** How a crawl is kept in Redis. */
export interface RedisOptions {
  /**
   * The name of the crawl. Programs with the same name and server share one crawl. Required, here or in the URL:
   * `redis://localhost:6379?crawl=news`.
   */
  crawl?: string | undefined
  /**
   * How long the others wait for a node that is silent before they take over its hosts. Default `'10s'`, at least
   * `'1s'`.
   */
  ttl?: Duration | undefined
  /** The most work that the death of a node can undo. Default `'100ms'`. */
  commitEvery?: Duration | undefined
  /** Whether hosts move from nodes with much work to nodes with little. Default true. */
  balance?: boolean | undefined
}

const DEFAULT_TTL_MS = 10_000
const MIN_TTL_MS = 1000
const MAX_TTL_MS = 600_000
const DEFAULT_COMMIT_MS = 100
const MAX_COMMIT_MS = 10_000

/** All options, validated. */
export interface Settings {
  readonly connection: RedisConnection
  readonly crawl: string
  readonly ttlMs: number
  readonly commitMs: number
  /** Default true. */
  readonly balance?: boolean | undefined
}

/** All keys of a crawl have one hash tag, so that they are in one slot. */
export function keyOf(crawl: string): string {
  return `{kumo:${crawl}}`
}

export function check(where: string | RedisConnection, options: RedisOptions = {}): Settings {
  assertKeys('redis: options', options, ['crawl', 'ttl', 'commitEvery', 'balance'])
  const connection = connectionOf(where)
  const {
    crawl = crawlIn(where),
    ttl = DEFAULT_TTL_MS,
    commitEvery = DEFAULT_COMMIT_MS,
    balance = true,
  } = options
  if (typeof crawl !== 'string' || !/^[\w.-]{1,100}$/.test(crawl))
    throw invalidOption(
      'redis: crawl',
      crawl,
      "a name of letters, digits, '.', '_' and '-': { crawl: 'news' }, or ?crawl=news at the end of the URL",
    )
  const ttlMs = parseDuration(ttl)
  if (ttlMs === undefined || ttlMs < MIN_TTL_MS || ttlMs > MAX_TTL_MS)
    throw invalidOption('redis: ttl', ttl, "a duration from one second to ten minutes, such as '10s'")
  const commitMs = parseDuration(commitEvery)
  if (commitMs === undefined || commitMs < 1 || commitMs > Math.min(MAX_COMMIT_MS, ttlMs / 4))
    throw invalidOption(
      'redis: commitEvery',
      commitEvery,
      "a duration of at most a quarter of ttl, such as '100ms'",
    )
  if (typeof balance !== 'boolean') throw invalidOption('redis: balance', balance, 'true or false')
  return { connection, crawl, ttlMs, commitMs, balance }
}

const URL_EXAMPLE =
  "a URL such as 'redis://user:password@localhost:6379/0', or an object such as { host, port }"

/** The name of the crawl in a URL. */
function crawlIn(where: string | RedisConnection): string | undefined {
  return typeof where === 'string' ? (new URL(where).searchParams.get('crawl') ?? undefined) : undefined
}

/** A URL may hold a password, so messages do not show it. */
function connectionOf(where: string | RedisConnection): RedisConnection {
  const connection = typeof where === 'string' ? fromUrl(where) : fromObject(where)
  const { env } = process
  return {
    username: env.KUMO_REDIS_USERNAME,
    password: env.KUMO_REDIS_PASSWORD,
    ...(connection.sentinels !== undefined && {
      sentinelUsername: env.KUMO_REDIS_SENTINEL_USERNAME,
      sentinelPassword: env.KUMO_REDIS_SENTINEL_PASSWORD,
    }),
    ...connection,
  }
}

function fromUrl(text: string): RedisConnection {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw optionError('redis: url', 'a text that is not a URL', URL_EXAMPLE)
  }
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:')
    throw optionError('redis: url', `a URL that starts with ${url.protocol}//`, URL_EXAMPLE)
  for (const name of url.searchParams.keys())
    if (name !== 'crawl') throw optionError('redis: url', `the parameter '${name}'`, "'crawl' only")
  const db = url.pathname.replace(/^\//, '')
  if (db !== '' && !/^\d+$/.test(db)) throw optionError('redis: url', `the database '${db}'`, 'a number')
  return {
    ...(url.hostname !== '' && { host: url.hostname.replace(/^\[|\]$/g, '') }),
    ...(url.port !== '' && { port: Number(url.port) }),
    ...(url.username !== '' && { username: decodeURIComponent(url.username) }),
    ...(url.password !== '' && { password: decodeURIComponent(url.password) }),
    ...(db !== '' && { db: Number(db) }),
    ...(url.protocol === 'rediss:' && { tls: true }),
  }
}

function fromObject(given: RedisConnection): RedisConnection {
  const known = [
    ...['host', 'port', 'username', 'password', 'db', 'tls'],
    ...['sentinels', 'name', 'sentinelUsername', 'sentinelPassword', 'replicas'],
  ]
  if (typeof given !== 'object' || given === null) throw invalidOption('redis: url', given, URL_EXAMPLE)
  assertKeys('redis: connection', given, known)
  const { port, db, replicas, sentinels, name } = given
  for (const [option, value] of Object.entries({ port, db, replicas })) {
    if (value !== undefined && (!Number.isInteger(value) || value < 0))
      throw invalidOption(`redis: ${option}`, value, 'a whole number')
  }
  if ((sentinels === undefined) !== (name === undefined) || sentinels?.length === 0)
    throw optionError(
      'redis: sentinels',
      sentinels?.length === 0 ? 'an empty list' : 'one without the other',
      'sentinels together with name',
    )
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** The server, as messages name it: without user and password. */
export function describe({
  host = '127.0.0.1',
  port = 6379,
  db = 0,
  sentinels,
  name,
  tls,
}: RedisConnection): string {
  if (sentinels !== undefined) return `the server '${name}' of the Sentinels`
  return `${tls ? 'rediss' : 'redis'}://${host.includes(':') ? `[${host}]` : host}:${port}/${db}`
}
