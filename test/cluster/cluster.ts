/** Nodes as processes, a Redis server and a web, and the judgement about what they did. */

import { type ChildProcess, spawn } from 'node:child_process'
import { builtProgram } from '../built-program.js'
import { type LoopbackWeb, startWeb, type WebOptions } from '../loopback/web.js'
import { PROJECT } from '../run-program.js'
import { RedisServer } from '../stores/redis/server.js'
import type { NodeOrders } from './node-program.js'
import { SlowLine } from './slow-line.js'

export const TTL_MS = 2000
const DELAY_MS = 60
const PATIENCE_MS = 60_000

export interface ClusterOptions {
  readonly web?: WebOptions
  readonly redisArgs?: readonly string[]
  readonly delayMs?: number
  readonly concurrency?: number
  readonly pages?: number
  readonly ttlMs?: number
}

/** What a node said, with the time at which it was heard. */
export interface Heard {
  readonly at: number
  readonly what: string
  readonly [more: string]: unknown
}

/** A process that crawls. */
class ClusterNode {
  readonly child: ChildProcess
  readonly heard: Heard[] = []
  readonly gone: Promise<number | null>
  #errors = ''

  constructor(program: string, orders: NodeOrders) {
    this.child = spawn(process.execPath, [program, JSON.stringify(orders)], {
      cwd: PROJECT,
      stdio: ['ignore', 'pipe', 'pipe'],
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

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }
}

/** What the log of the web says. */
export interface Judgement {
  readonly missing: number
  readonly overlaps: number
  readonly belowGap: number
  /** Requests for pages that had been served before. */
  readonly repeats: number
}

export class Cluster {
  readonly web: LoopbackWeb
  readonly server: RedisServer
  readonly nodes: ClusterNode[] = []
  readonly crawl = 'cluster'
  readonly #options: ClusterOptions
  readonly #program: string
  readonly #proxies: SlowLine[] = []

  private constructor(options: ClusterOptions, web: LoopbackWeb, server: RedisServer, program: string) {
    this.#options = options
    this.web = web
    this.server = server
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
    const server = await RedisServer.start({ args: options.redisArgs ?? ['--appendonly', 'yes'] })
    return new Cluster(options, web, server, await builtProgram('test/cluster/node-program.ts'))
  }

  /** Starts a node; its way to Redis may lead through a proxy. */
  node(url = this.server.url): ClusterNode {
    const { delayMs = DELAY_MS, concurrency = 30, pages, ttlMs: ttl = TTL_MS } = this.#options
    const seeds = this.web.seeds(1)
    const node = new ClusterNode(this.#program, {
      ...{ url, crawl: this.crawl, ttl, seeds, delayMs, concurrency },
      pages,
    })
    this.nodes.push(node)
    return node
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

  async heard(node: ClusterNode, what: string): Promise<Heard> {
    await this.#until(`'${what}' of a node`, () => node.heard.some((each) => each.what === what))
    return node.heard.find((each) => each.what === what)!
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

  async judge(): Promise<Judgement> {
    const { distinctPages, requests, perHost } = await this.web.report(0, {
      gapMs: this.#options.delayMs ?? DELAY_MS,
    })
    return {
      missing: this.web.totalPages - distinctPages,
      overlaps: perHost.overlaps,
      belowGap: perHost.belowGap,
      repeats: requests - distinctPages,
    }
  }

  async close(): Promise<void> {
    for (const node of this.nodes) node.signal('SIGKILL')
    await Promise.all(this.nodes.map(({ gone }) => gone))
    await Promise.all(this.#proxies.map((proxy) => proxy.close()))
    await this.server.stop()
    await this.web.close()
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
