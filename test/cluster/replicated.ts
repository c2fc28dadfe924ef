/** A primary with replicas and Sentinels, as servers of their own. */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort, RedisServer } from '../stores/redis/server.js'
import { SlowLine } from './slow-line.js'

export const NAME = 'kumo'
/** A Sentinel counts a primary as down after so long. */
const DOWN_AFTER_MS = 1000
const PATIENCE_MS = 30_000

export interface ReplicatedOptions {
  readonly replicas: number
  readonly sentinels: number
}

/** Replicas and Sentinels reach the primary through a line that can be cut. */
export class ReplicatedRedis {
  readonly primary: RedisServer
  readonly replicas: RedisServer[] = []
  /** What everybody but the program that knows the primary's own port goes through. */
  readonly line: SlowLine
  readonly sentinels: { readonly host: string; readonly port: number }[] = []
  readonly #processes: ChildProcess[] = []
  readonly #folder = mkdtempSync(join(tmpdir(), 'kumo-sentinel-'))

  private constructor(primary: RedisServer, line: SlowLine) {
    this.primary = primary
    this.line = line
  }

  static async start({ replicas, sentinels }: ReplicatedOptions): Promise<ReplicatedRedis> {
    // A replica that follows again at once, so that a short crawl sees it.
    const args = ['--appendonly', 'yes', '--repl-diskless-sync-delay', '0']
    const primary = await RedisServer.start({ args })
    const line = await SlowLine.start(primary.port)
    const redis = new ReplicatedRedis(primary, line)
    for (let i = 0; i < replicas; i++) {
      const follow = ['--replicaof', '127.0.0.1', String(line.port)]
      redis.replicas.push(await RedisServer.start({ args: [...args, ...follow] }))
    }
    await until('replicas', async () => {
      const info = await redis.ask(primary.port, (client) => client.info('replication'))
      return info.split('state=online').length - 1 === replicas
    })
    for (let i = 0; i < sentinels; i++) await redis.#startSentinel(Math.floor(sentinels / 2) + 1)
    await until('Sentinels', async () => {
      const known = await Promise.all(redis.sentinels.map(({ port }) => redis.ask(port, knownTo)))
      return known.every((each) => each.replicas >= replicas && each.sentinels === sentinels - 1)
    })
    return redis
  }

  /** The port of the server that the Sentinels take for the primary. */
  async primaryPort(): Promise<number> {
    const { port } = this.sentinels[0]!
    const address = await this.ask(port, (client) => client.call('sentinel', 'get-master-addr-by-name', NAME))
    return Number((address as string[])[1])
  }

  /** Resolves when a replica has taken over. */
  async failedOver(): Promise<number> {
    let port = 0
    await until('a fail-over', async () => {
      port = await this.primaryPort()
      if (port === this.line.port) return false
      return (await this.ask(port, (client) => client.info('replication'))).includes('role:master')
    })
    return port
  }

  async ask<T>(port: number, question: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis(port, { retryStrategy: () => null })
    client.on('error', () => {})
    try {
      return await question(client)
    } finally {
      client.disconnect()
    }
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#processes.map(
        (child) =>
          new Promise((resolve) => {
            child.once('exit', resolve)
            child.kill('SIGKILL')
          }),
      ),
    )
    await Promise.all([this.primary, ...this.replicas].map((server) => server.stop()))
    await this.line.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #startSentinel(quorum: number): Promise<void> {
    const port = await freePort()
    const path = join(this.#folder, `${port}.conf`)
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${this.#folder}`,
      `sentinel monitor ${NAME} 127.0.0.1 ${this.line.port} ${quorum}`,
      `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
      `sentinel failover-timeout ${NAME} 5000`,
      `sentinel parallel-syncs ${NAME} 2`,
    ]
    writeFileSync(path, `${lines.join('\n')}\n`)
    const child = spawn('redis-server', [path, '--sentinel'], { stdio: 'ignore' })
    this.#processes.push(child)
    this.sentinels.push({ host: '127.0.0.1', port })
    await until('a Sentinel', async () => {
      try {
        return (await this.ask(port, (client) => client.ping())) === 'PONG'
      } catch {
        return false
      }
    })
  }
}

/** How many replicas and other Sentinels a Sentinel knows. */
async function knownTo(client: Redis): Promise<{ readonly replicas: number; readonly sentinels: number }> {
  const fields = (await client.call('sentinel', 'master', NAME)) as string[]
  const field = (name: string) => Number(fields[fields.indexOf(name) + 1])
  return { replicas: field('num-slaves'), sentinels: field('num-other-sentinels') }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
