/** Loads ioredis and connects to a server. Nothing else knows which client is used. */

import { readFileSync } from 'node:fs'
import type { Redis, RedisOptions } from 'ioredis'
import { KumoError, messageOf } from '../../../errors.js'
import { require } from '../../../require.js'
import { systemClock } from '../../../time.js'
import type { Script } from '../protocol/scripts.js'
import { describe, type RedisConnection } from '../settings.js'
import type { Argument, Command, ConfirmedReply, RedisClient } from './contract.js'

const CONNECT_MS = 5000
/** A connection that hangs is dropped after this time, so that another one can be opened. */
const DISCONNECT_MS = 500
/** A Sentinel that does not answer for so long is passed over. */
const SENTINEL_MS = 3000
/** Between attempts to reach a server that is away. */
const MAX_RETRY_MS = 500
const OLDEST = 7
const clock = systemClock()

/**
 * Connects, and checks that the server can hold a crawl.
 *
 * @throws KumoError `KUMO_NOT_INSTALLED`, or `KUMO_STORE_FAILED` if the server does not answer or cannot hold a crawl.
 */
export async function connect(connection: RedisConnection): Promise<RedisClient> {
  const redis = new (loadIoredis())(optionsOf(connection) as object)
  // Without a listener, ioredis writes to the console. What fails is reported by whoever waits for it.
  redis.on('error', (error) => {
    lastError = error
  })
  let lastError: unknown
  const where = describe(connection)
  try {
    await redis.connect()
  } catch (error) {
    redis.disconnect()
    const reason = messageOf(isClosed(error) ? (lastError ?? error) : error)
    throw new KumoError(
      'KUMO_STORE_FAILED',
      `redis: could not connect to ${where}: ${reason}${adviceFor(reason, connection)}`,
      { cause: lastError ?? error },
    )
  }
  let replicas: number
  try {
    const info = await redis.info()
    assertUsable(info, where)
    replicas = connection.replicas ?? replicasToWaitFor(info, connection)
  } catch (error) {
    redis.disconnect()
    if (error instanceof KumoError) throw error
    const reason = messageOf(error)
    const message = `redis: ${where} refused: ${reason}${adviceFor(reason, connection)}`
    throw new KumoError('KUMO_STORE_FAILED', message, { cause: error })
  }
  // The first attempt failed at once; from now on, they go on until a server is back.
  const retry = (times: number) => Math.min(times * 50, MAX_RETRY_MS)
  redis.options.retryStrategy = retry
  redis.options.sentinelRetryStrategy = retry
  return new IoredisClient(redis, replicas)
}

function loadIoredis(): typeof Redis {
  try {
    return (require('ioredis') as { readonly Redis: typeof Redis }).Redis
  } catch (error) {
    const message = 'redis() needs the package ioredis, which could not be loaded; run `npm install ioredis`'
    throw new KumoError('KUMO_NOT_INSTALLED', message, { cause: error })
  }
}

function optionsOf({ tls, sentinels, name, replicas: _, ...rest }: RedisConnection): RedisOptions {
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  const options: RedisOptions = {
    ...given,
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    // A commit is numbered, so that sending it again is harmless; and what waits must neither be lost nor fail.
    maxRetriesPerRequest: null,
    autoResendUnfulfilledCommands: true,
    disableClientInfo: true,
    disconnectTimeout: DISCONNECT_MS,
    retryStrategy: () => null,
    // A server that has become a replica: the next connection leads to the new one.
    reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 2 : false),
  }
  if (tls) options.tls = { ...authority(), ...(tls === true ? {} : tls) }
  if (sentinels !== undefined) {
    options.sentinels = sentinels.map((each) => ({ ...each }))
    if (name !== undefined) options.name = name
    options.sentinelRetryStrategy = () => null
    options.sentinelCommandTimeout = SENTINEL_MS
    if (options.tls !== undefined) {
      options.enableTLSForSentinelMode = true
      options.sentinelTLS = { ...options.tls }
    }
  }
  return options
}

/** The certificates to trust beside those of the system, if the environment names a file with them. */
function authority(): { readonly ca?: string } {
  const path = process.env.KUMO_REDIS_CA
  if (path === undefined || path === '') return {}
  try {
    return { ca: readFileSync(path, 'utf8') }
  } catch (error) {
    const message = `redis: could not read KUMO_REDIS_CA (${path}): ${messageOf(error)}`
    throw new KumoError('KUMO_STORE_FAILED', message, { cause: error })
  }
}

/**
 * A server that can be replaced by its replica must not grant leases that the replica does not know. Where there are
 * Sentinels or replicas, one of them confirms every lease.
 */
function replicasToWaitFor(info: string, { sentinels }: RedisConnection): number {
  return sentinels !== undefined || /^connected_slaves:[1-9]/m.test(info) ? 1 : 0
}

function adviceFor(reason: string, { tls }: RedisConnection): string {
  if (/WRONGPASS|NOAUTH|NOPERM/.test(reason))
    return '; check user and password, and that the user may run scripts and INFO'
  if (/certificate|self.signed|SSL|TLS/i.test(reason)) return '; check the option tls, e.g. tls: { ca }'
  // Either side waits for the other to begin, or hangs up.
  if (!/ETIMEDOUT|ECONNRESET|closed/.test(reason)) return ''
  return tls
    ? '; if the server does not speak TLS, give its address as redis:// and not rediss://'
    : '; if the server speaks TLS only, give its address as rediss://'
}

/** @throws KumoError if the server is a replica, too old, a cluster, or would evict keys. */
function assertUsable(info: string, where: string): void {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? ''
  const refuse = (what: string) => new KumoError('KUMO_STORE_FAILED', `redis: ${where} ${what}`)
  const version = field('redis_version')
  if (Number.parseInt(version, 10) < OLDEST)
    throw refuse(`has version ${version}; use Redis ${OLDEST}.0 or later, or Valkey`)
  if (field('role') !== 'master')
    throw refuse(
      'is a replica, which cannot be written to; give the address of the primary, or use sentinels',
    )
  if (field('redis_mode') === 'cluster')
    throw refuse('is part of a Redis Cluster; a crawl needs a single server, with or without Sentinel')
  const policy = field('maxmemory_policy')
  if (policy !== '' && policy !== 'noeviction') {
    throw refuse(
      `has maxmemory-policy ${policy}, which would drop parts of the crawl; set it to noeviction: ` +
        'CONFIG SET maxmemory-policy noeviction',
    )
  }
}

function isClosed(error: unknown): boolean {
  return messageOf(error) === 'Connection is closed.'
}

class IoredisClient implements RedisClient {
  readonly replicas: number
  readonly #redis: Redis
  #isClosed = false
  /** Changes with the connection. What `WAIT` says is about the connection on which it is asked. */
  #epoch = 0

  constructor(redis: Redis, replicas: number) {
    this.#redis = redis
    this.replicas = replicas
    redis.on('close', () => {
      this.#epoch++
    })
    // ioredis gives up if it fails before it has a socket, e.g. while it asks Sentinels.
    redis.on('end', () => {
      if (!this.#isClosed) clock.wakeAt(clock.now() + MAX_RETRY_MS, () => this.#connectAgain())
    })
  }

  #connectAgain(): void {
    if (!this.#isClosed && this.#redis.status === 'end') this.#redis.connect().catch(() => {})
  }

  async run(script: Script, key: string, args: readonly Argument[]): Promise<readonly string[]> {
    const given = args as (string | number | Buffer)[]
    try {
      return (await this.#redis.evalsha(script.sha, 1, key, ...given)) as string[]
    } catch (error) {
      if (!messageOf(error).startsWith('NOSCRIPT')) throw error
      return (await this.#redis.eval(script.text, 1, key, ...given)) as string[]
    }
  }

  async runConfirmed(
    script: Script,
    key: string,
    args: readonly Argument[],
    timeoutMs: number,
  ): Promise<ConfirmedReply> {
    const epoch = this.#epoch
    const reply = await this.run(script, key, args)
    if (this.replicas === 0) return { reply, isConfirmed: true }
    if (epoch !== this.#epoch) return { reply, isConfirmed: false }
    const confirmed = await this.#redis.call('WAIT', this.replicas, Math.ceil(timeoutMs))
    return { reply, isConfirmed: epoch === this.#epoch && Number(confirmed) >= this.replicas }
  }

  async read(commands: readonly Command[]): Promise<readonly unknown[]> {
    return Promise.all(
      commands.map(([name, ...args]) => this.#redis.callBuffer(name, args as (string | number | Buffer)[])),
    )
  }

  reconnect(): void {
    // Without a socket it is about to open one.
    const { status } = this.#redis
    if (status === 'ready' || status === 'connect') this.#redis.disconnect(true)
  }

  close(): void {
    this.#isClosed = true
    this.#redis.disconnect()
  }
}
