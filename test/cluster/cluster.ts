/** Nodes as processes, a Redis server and a web, and the judgement about what they did. */

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import type { RedisConnection } from 'kumo/redis'
import { builtProgram } from '../built-program.js'
import { type LoopbackWeb, startWeb, type WebOptions, type WebRequest } from '../loopback/web.js'
import { PROJECT } from '../run-program.js'
import { RedisServer } from '../stores/redis/server.js'
import type { NodeOrders } from './node-program.js'
import { NAME, type ReplicatedOptions, ReplicatedRedis } from './replicated.js'
import { SlowLine } from './slow-line.js'

export const TTL_MS = 2000
const DELAY_MS = 60
const CLOCK = new URL('stepped-clock.mjs', import.meta.url).href
const PATIENCE_MS = 100_000

export interface ClusterOptions {
  readonly web?: WebOptions
  readonly redisArgs?: readonly string[]
  readonly delayMs?: number
  readonly concurrency?: number
  readonly pages?: number
  /** Present: nodes have a hook that takes so long for a page. */
  readonly hookMs?: number
  /** Threads of each node. Default 0: none but that of the program. */
  readonly workers?: number
  readonly ttlMs?: number
  /** How many hosts the crawl begins with. Default 1. */
  readonly seeds?: number
  /** Present: the server is the primary of a group that Sentinels watch. */
  readonly replicated?: ReplicatedOptions
}

/** What a node said, with the time at which it was heard. */
export interface Heard {
  readonly at: number
  readonly what: string
  readonly [more: string]: unknown
}

/** A process that crawls. */
export class ClusterNode {
  readonly child: ChildProcess
  readonly heard: Heard[] = []
  readonly gone: Promise<number | null>
  isLeaving = false
  #errors = ''

  constructor(program: string, orders: NodeOrders) {
    this.child = spawn(process.execPath, ['--import', CLOCK, program, JSON.stringify(orders)], {
      cwd: PROJECT,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    this.gone = new Promise((resolve) => this.child.once('exit', (code) => resolve(code)))
    let rest = ''
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) this.heard.push({ at: Date.now(), ...JSON.parse(line) })
    })
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text
    })
  }

  get errors(): string {
    return this.#errors
  }

  /** What it said about its end. */
  get result(): Heard | undefined {
    return this.heard.find(({ what }) => what === 'done' || what === 'failed')
  }

  /** It would take a signal for what it is. */
  get isReady(): boolean {
    return this.heard.some(({ what }) => what === 'ready') && this.result === undefined
  }

  signal(signal: NodeJS.Signals): void {
    this.isLeaving ||= signal === 'SIGTERM'
    this.child.kill(signal)
  }

  /** It stops itself (SIGSTOP) when it is about to send its next request. */
  stopItself(): void {
    this.child.send({ stopsItself: true })
  }

  /** From now on, its hook takes so long for a page. */
  hookTakes(hookMs: number): void {
    this.child.send({ hookMs })
  }

  /** Sets the wall clock of the process. */
  stepClock(stepMs: number): void {
    this.child.send({ stepMs })
  }
}

/** What the log of the web says. */
export interface Judgement {
  readonly missing: number
  readonly overlaps: number
  readonly belowGap: number
  /** Pages that were served and had been served before. */
  readonly repeats: number
}

function isStats({ what }: Heard): boolean {
  return what === 'stats'
}

/**
 * Requests that came too soon after the one before at their host. When a request was given up is not known: the server hears
 * of it later, on a busy machine much later. So a request that was not answered counts by its beginning.
 */
function impoliteness(log: readonly WebRequest[], gapMs: number): { overlaps: number; belowGap: number } {
  const before = new Map<number, number>()
  let [overlaps, belowGap] = [0, 0]
  for (const { host, start, end, answered } of log) {
    const last = before.get(host) ?? Number.NEGATIVE_INFINITY
    if (start < last) overlaps++
    else if (start < last + gapMs) belowGap++
    before.set(host, Math.max(last, answered ? end : start))
  }
  return { overlaps, belowGap }
}

export class Cluster {
  readonly web: LoopbackWeb
  readonly server: RedisServer
  readonly nodes: ClusterNode[] = []
  readonly crawl = 'cluster'
  readonly #options: ClusterOptions
  readonly #program: string
  readonly #proxies: SlowLine[] = []
  readonly #folder = mkdtempSync(join(tmpdir(), 'kumo-cluster-'))
  readonly #replicated: ReplicatedRedis | undefined

  private constructor(
    options: ClusterOptions,
    web: LoopbackWeb,
    server: RedisServer | ReplicatedRedis,
    program: string,
  ) {
    this.#options = options
    this.web = web
    this.#replicated = server instanceof ReplicatedRedis ? server : undefined
    this.server = server instanceof ReplicatedRedis ? server.primary : server
    this.#program = program
  }

  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const web = await startWeb({
      hosts: 40,
      pagesPerHost: 30,
      linksPerPage: 12,
      bytes: 3000,
      crossHostShare: 0.3,
      latencyMs: [5, 30],
      ...options.web,
    })
    const args = options.redisArgs ?? ['--appendonly', 'yes']
    const server =
      options.replicated === undefined
        ? await RedisServer.start({ args })
        : await ReplicatedRedis.start(options.replicated)
    return new Cluster(options, web, server, await builtProgram('test/cluster/node-program.ts'))
  }

  get replicated(): ReplicatedRedis {
    return this.#replicated!
  }

  /** Whether nodes have worker threads, which do not hear what their process is told. */
  get hasThreads(): boolean {
    return this.#options.workers !== undefined
  }

  /** Where the Sentinels say that the server is. */
  get bySentinels(): RedisConnection {
    return { sentinels: this.replicated.sentinels, name: NAME }
  }

  /** Starts a node; its way to Redis may lead through a proxy. */
  node(url: string | RedisConnection = this.server.url): ClusterNode {
    const { delayMs = DELAY_MS, concurrency = 30, pages, workers, hookMs } = this.#options
    const { ttlMs: ttl = TTL_MS, seeds: seedHosts = 1 } = this.#options
    const seeds = this.web.seeds(seedHosts)
    const node = new ClusterNode(this.#program, {
      ...{ url, crawl: this.crawl, ttl, seeds, delayMs, concurrency },
      ...{ pages, workers },
      hook: hookMs === undefined ? undefined : { ms: hookMs, file: this.#resultsOf(this.nodes.length) },
    })
    this.nodes.push(node)
    return node
  }

  /** The pages that hooks have made durable, by node: id and URL of each. */
  results(): string[][] {
    return this.nodes.map((_, i) => {
      const file = this.#resultsOf(i)
      return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
    })
  }

  #resultsOf(node: number): string {
    return join(this.#folder, `node-${node}`)
  }

  async proxy(): Promise<SlowLine> {
    const proxy = await SlowLine.start(this.server.port)
    this.#proxies.push(proxy)
    return proxy
  }

  /** Resolves once this many pages were served, by whomever. */
  async served(pages: number): Promise<void> {
    await this.#until(`${pages} pages`, async () => (await this.web.report()).distinctPages >= pages)
  }

  /** Resolves once every node is a member that has its part of the partitions. */
  async ready(): Promise<void> {
    await this.#until('all nodes', async () => {
      const key = `{kumo:${this.crawl}}:own`
      const owners = await this.ask((client) => client.hvals(key))
      return owners.length > 0 && new Set(owners).size === this.nodes.length
    })
  }

  /** How many partitions are owned by somebody. */
  partitionsOwned(): Promise<number> {
    return this.ask((client) => client.hlen(`{kumo:${this.crawl}}:own`))
  }

  /** The pages that each node has read so far. */
  async pagesByNode(): Promise<number[]> {
    const asked = this.nodes.map(({ heard }) => heard.filter(isStats).length)
    for (const node of this.nodes) node.signal('SIGUSR2')
    await this.#until('statistics', () =>
      this.nodes.every(({ heard }, i) => heard.filter(isStats).length > asked[i]!),
    )
    return this.nodes.map(({ heard }) => Number(heard.filter(isStats).at(-1)!.pages))
  }

  /** Resolves once a node has said that. */
  async heardOf(what: string): Promise<void> {
    await this.#until(`'${what}' of a node`, () =>
      this.nodes.some(({ heard }) => heard.some((each) => each.what === what)),
    )
  }

  /** Resolves once so many results of a node are durable. */
  async flushed(node: number, pages: number): Promise<void> {
    await this.#until(`${pages} results of node ${node}`, () => this.results()[node]!.length >= pages)
  }

  /** Changes an option of the server. */
  async config(name: string, value: string): Promise<void> {
    await this.ask((client) => client.config('SET', name, value))
  }

  async ask<T>(question: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis(this.server.port)
    try {
      return await question(client)
    } finally {
      client.disconnect()
    }
  }

  /** Waits for the nodes that are alive. */
  async finish(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`the crawl does not end: ${this.#described()}`)), PATIENCE_MS)
    })
    await Promise.race([Promise.all(this.nodes.map(({ gone }) => gone)), late]).finally(() =>
      clearTimeout(timer),
    )
  }

  /** The log, without requests for anything but pages. */
  async log(): Promise<WebRequest[]> {
    return (await this.web.requests()).filter(({ url }) => url !== undefined)
  }

  async judge(): Promise<Judgement> {
    const log = await this.log()
    const { distinctPages } = await this.web.report()
    return {
      missing: this.web.totalPages - distinctPages,
      ...impoliteness(log, this.#options.delayMs ?? DELAY_MS),
      repeats: log.filter((each) => each.answered).length - distinctPages,
    }
  }

  async close(): Promise<void> {
    for (const node of this.nodes) node.signal('SIGKILL')
    await Promise.all(this.nodes.map(({ gone }) => gone))
    await Promise.all(this.#proxies.map((proxy) => proxy.close()))
    if (this.#replicated === undefined) await this.server.stop()
    else await this.#replicated.close()
    await this.web.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS
    while (!(await isSo())) {
      const isLate = Date.now() > deadline || this.nodes.every(({ child }) => child.exitCode !== null)
      if (isLate) throw new Error(`waited in vain for ${what}: ${this.#described()}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  #described(): string {
    return this.nodes
      .map(
        ({ heard, errors, child }) =>
          `${child.exitCode}/${child.signalCode} ${JSON.stringify(heard.slice(-5))} ${errors.slice(-500)}`,
      )
      .join('\n')
  }
}
