/** Loads ioredis and connects to a server. Nothing else knows which client is used. */

import type { Redis, RedisOptions } from 'ioredis'
import { KumoError, messageOf } from '../../../errors.js'
import { require } from '../../../require.js'
import type { Script } from '../protocol/scripts.js'
import { describe, type RedisConnection } from '../settings.js'
import type { Argument, Command, RedisClient } from './contract.js'

const CONNECT_MS = 5000
/** Between attempts to reach a server that is away. */
const MAX_RETRY_MS = 500
const OLDEST = 7

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
      `redis: could not connect to ${where}: ${reason}${adviceFor(reason)}`,
      { cause: lastError ?? error },
    )
  }
  try {
    assertUsable(await redis.info(), where)
  } catch (error) {
    redis.disconnect()
    if (error instanceof KumoError) throw error
    const reason = messageOf(error)
    throw new KumoError('KUMO_STORE_FAILED', `redis: ${where} refused: ${reason}${adviceFor(reason)}`, {
      cause: error,
    })
  }
  redis.options.retryStrategy = (times) => Math.min(times * 50, MAX_RETRY_MS)
  return new IoredisClient(redis)
}

function loadIoredis(): typeof Redis {
  try {
    return (require('ioredis') as { readonly Redis: typeof Redis }).Redis
  } catch (error) {
    const message = 'redis() needs the package ioredis, which could not be loaded; run `npm install ioredis`'
    throw new KumoError('KUMO_NOT_INSTALLED', message, { cause: error })
  }
}

function optionsOf({ tls, sentinels, name, ...rest }: RedisConnection): RedisOptions {
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  const options: RedisOptions = {
    ...given,
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    // A commit is numbered, so that sending it again is harmless; and what waits must neither be lost nor fail.
    maxRetriesPerRequest: null,
    autoResendUnfulfilledCommands: true,
    disableClientInfo: true,
    // The first attempt fails at once; later ones go on until the server is back.
    retryStrategy: () => null,
    // A server that has become a replica: the next connection leads to the new one.
    reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 2 : false),
  }
  if (tls) options.tls = tls === true ? {} : { ...tls }
  if (sentinels !== undefined) {
    options.sentinels = sentinels.map((each) => ({ ...each }))
    if (name !== undefined) options.name = name
    options.sentinelRetryStrategy = (times) => Math.min(times * 50, MAX_RETRY_MS)
  }
  return options
}

function adviceFor(reason: string): string {
  if (/WRONGPASS|NOAUTH|NOPERM/.test(reason))
    return '; check user and password, and that the user may run scripts and INFO'
  if (/certificate|self.signed|SSL|TLS/i.test(reason)) return '; check the option tls, e.g. tls: { ca }'
  return ''
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
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
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

  async read(commands: readonly Command[]): Promise<readonly unknown[]> {
    return Promise.all(
      commands.map(([name, ...args]) => this.#redis.callBuffer(name, args as (string | number | Buffer)[])),
    )
  }

  reconnect(): void {
    this.#redis.disconnect(true)
  }

  close(): void {
    this.#redis.disconnect()
  }
}
