/**
 * Several crawlers that share a crawl, in one process and in virtual time, with the twin of the scripts as their server. A
 * seed decides the web, what fails and when; the web itself judges.
 */

import { Crawler } from 'kumo'
import {
  type Fetcher,
  type OpenStore,
  type Outcome,
  type Random,
  type Store,
  seededRandom,
} from 'kumo/adapters'
import { virtualClock } from 'kumo/sim'
import type { RedisClient } from '../../src/stores/redis/client/contract.js'
import { Node } from '../../src/stores/redis/session/node.js'
import { type Broken, Twin } from '../stores/redis/twin.js'

const TTL_MS = 2000
const DELAY_MS = 200
const PARTITIONS = 8
const HEADERS = {
  get: (name: string) => (name === 'content-type' ? 'text/html' : undefined),
  entries: () => [['content-type', 'text/html']] as [string, string][],
}

/** What went wrong; empty if nothing did. */
export interface Simulated {
  readonly findings: readonly string[]
  readonly faults: readonly string[]
  readonly requests: number
  readonly pages: number
}

/** A server, and who knows about it. */
interface SimulatedServer {
  readonly twin: Twin
  /** It answers nobody any more. */
  isDown: boolean
  /** A replica has everything that it writes. */
  hasReplica: boolean
  /** It refuses whatever takes memory. */
  isFull: boolean
  /** It answers nobody until then. */
  awayUntil: number
}

/** One crawler, and its ways to the web and to the server. */
interface SimulatedNode {
  isDead: boolean
  /** What it sends to the server waits until then. */
  cutUntil: number
  /** Until then, its connection breaks now and then before an answer arrives. */
  flakyUntil: number
  /** The server that it takes for the primary. */
  server: SimulatedServer
  done: Promise<unknown>
}

/** Nothing is lost and nobody is evicted, so that no page may be fetched twice. */
const HARMLESS = new Set(['join', 'restart', 'full', 'away', 'flaky'])
const FULL = new Set(['join', 'claim', 'commit'])
/** How long a node waits before it tries again to reach a server. */
const RECONNECT_MS = 50

/** `broken`: what the server does not check. */
export async function simulate(seed: number, broken?: Broken): Promise<Simulated> {
  const random = seededRandom(seed)
  const upTo = (most: number) => Math.floor(random.next() * most)
  const clock = virtualClock()
  const serverOf = (twin: Twin): SimulatedServer => ({
    twin,
    isDown: false,
    hasReplica: true,
    isFull: false,
    awayUntil: 0,
  })
  let primary = serverOf(new Twin(() => clock.now(), broken))
  const web = new SimulatedHosts(clock, random, 4 + upTo(8), 3 + upTo(8))
  const nodes: SimulatedNode[] = []
  const faults: string[] = []
  const replicas = upTo(2)
  let runs = 1

  const add = () => {
    const node: SimulatedNode = {
      isDead: false,
      cutUntil: 0,
      flakyUntil: 0,
      server: primary,
      done: Promise.resolve(),
    }
    const never = new Promise<never>(() => {})
    /** The way there and back takes a moment, and longer while it is cut. What gets no answer is sent again. */
    const carried = async <T>(call: (server: SimulatedServer) => T): Promise<T> => {
      for (;;) {
        await clock.sleep(1 + 3 * random.next())
        while (node.cutUntil > clock.now()) await clock.sleep(node.cutUntil - clock.now() + 1)
        if (node.isDead) return never
        const { server } = node
        if (server.isDown || server.awayUntil > clock.now()) {
          await clock.sleep(RECONNECT_MS)
          continue
        }
        const reply = call(server)
        await clock.sleep(1 + 3 * random.next())
        if (node.isDead) return never
        // An answer may be lost too.
        const isCut = Math.max(node.cutUntil, server.awayUntil) > clock.now()
        const isBroken = node.flakyUntil > clock.now() && random.next() < 0.3
        if (node.server === server && !server.isDown && !isCut && !isBroken) return reply
      }
    }
    const run: RedisClient['run'] = (script, key, args) =>
      carried(({ twin, isFull }) => {
        // A node that starts would refuse a full server.
        const isStart = script.name === 'join' && args[5] === ''
        if (!isFull || isStart || !FULL.has(script.name)) return { reply: twin.call(script, key, args) }
        return { error: new Error("OOM command not allowed when used memory > 'maxmemory'") }
      }).then(({ reply, error }) => {
        if (error !== undefined) throw error
        return reply
      })
    const client: RedisClient = {
      replicas,
      run,
      async runConfirmed(script, key, args, timeoutMs) {
        const { server } = node
        const reply = await run(script, key, args)
        if (replicas === 0) return { reply, isConfirmed: true }
        if (!node.server.hasReplica) await clock.sleep(timeoutMs)
        return { reply, isConfirmed: server === node.server && server.hasReplica }
      },
      read: (commands) => carried(({ twin }) => twin.read(commands)),
      reconnect() {},
      close() {},
    }
    const fetcher: Fetcher = {
      fetch: (request, context) => (node.isDead ? never : web.fetch(request.url, context, node)),
    }
    node.done = new Crawler()
      .seeds(web.url(0, 0))
      .scope('all')
      .allowPrivate('all')
      .robots(false)
      .delay(DELAY_MS)
      .concurrency(6)
      .clock(clock)
      .partitioner({ partitions: PARTITIONS, partition: partitionOf })
      .random(seededRandom(seed + nodes.length))
      .fetcher(fetcher)
      .store(storeOn(client))
      .run()
    node.done.catch(() => {})
    nodes.push(node)
  }

  /** A replica that stopped following some time ago takes over; some nodes hear of it late. */
  const failOver = async () => {
    const lagMs = upTo(3) === 0 ? 0 : upTo(3000)
    primary.hasReplica = lagMs === 0
    const snapshot = primary.twin.snapshot()
    await clock.sleep(lagMs)
    const old = primary
    // Without replicas that confirm leases, nobody may go on with the old primary.
    const isSplit = replicas > 0 && random.next() < 0.5
    old.isDown = !isSplit
    old.hasReplica = false
    const twin = new Twin(() => clock.now(), broken)
    twin.restore(lagMs === 0 ? old.twin.snapshot() : snapshot, `run${++runs}`)
    faults.push(isSplit ? 'split' : 'fail-over')
    await clock.sleep(upTo(TTL_MS))
    primary = serverOf(twin)
    for (const node of nodes) {
      const isLate = random.next() < 0.3
      const switched = () => {
        node.server = primary
      }
      clock.wakeAt(clock.now() + upTo(isLate ? 3 * TTL_MS : 500), switched)
    }
  }

  const begin = 1 + upTo(3)
  for (let i = 0; i < begin; i++) add()
  const alive = () => nodes.filter(({ isDead }) => !isDead)
  const disturb = async () => {
    for (let left = upTo(4); left > 0; left--) {
      await clock.sleep(upTo(4) === 0 ? upTo(300) : 200 + upTo(3000))
      const node = alive()[upTo(alive().length)]
      if (node === undefined || web.isComplete) return
      const what = upTo(9)
      if (what === 0) {
        node.isDead = true
        faults.push('kill')
        if (alive().length === 0 || random.next() < 0.5) add()
      } else if (what === 1) {
        node.cutUntil = clock.now() + upTo(3 * TTL_MS)
        faults.push('cut')
      } else if (what === 2) {
        faults.push('join')
        add()
      } else if (what === 3) {
        faults.push('restart')
        primary.twin.restore(primary.twin.snapshot(), `run${++runs}`)
      } else if (what === 4) {
        faults.push('full')
        const server = primary
        server.isFull = true
        clock.wakeAt(clock.now() + upTo(3 * TTL_MS), () => {
          server.isFull = false
        })
      } else if (what === 6) {
        faults.push('flaky')
        node.flakyUntil = clock.now() + upTo(2000)
      } else if (what === 5) {
        faults.push('away')
        primary.awayUntil = clock.now() + upTo(3 * TTL_MS)
      } else await failOver()
    }
  }
  const findings: string[] = []
  try {
    await clock.run(
      disturb().then(() => Promise.all(alive().map(({ done }) => done))),
      { withinMs: 120_000 },
    )
  } catch (error) {
    findings.push(`it does not end: ${error}`)
  }
  findings.push(...web.findings)
  if (web.repeats > 0 && faults.every((fault) => HARMLESS.has(fault)))
    findings.push(`${web.repeats} pages were fetched again`)
  if (web.missing() > 0) findings.push(`${web.missing()} of ${web.pages} pages are missing`)
  return { findings, faults, requests: web.requests, pages: web.pages }
}

function storeOn(client: RedisClient): Store {
  return {
    name: 'twin',
    async open(context): Promise<OpenStore> {
      const settings = { connection: {}, crawl: 'sim', ttlMs: TTL_MS, commitMs: 100 }
      const node = new Node(
        settings,
        { ...context, partitions: PARTITIONS, partitionOf: partitionOf },
        client,
      )
      await node.open()
      return {
        frontier: node.frontier,
        seen: node.seen,
        state: node.state,
        flush: () => node.flush(),
        onCommit: (write) => node.onCommit(write),
        condition: () => node.condition(),
        membership: node,
        close: () => node.close(),
      }
    },
  }
}

/** `h12.example` is in partition 12 of as many as there are. */
function partitionOf(host: string): number {
  return Number(/\d+/.exec(host)![0]) % PARTITIONS
}

/** A web of a few hosts whose pages link to each other. It notes whoever is not polite. */
class SimulatedHosts {
  readonly findings: string[] = []
  readonly pages: number
  requests = 0
  repeats = 0
  readonly #clock: ReturnType<typeof virtualClock>
  readonly #random: Random
  readonly #hosts: number
  readonly #perHost: number
  readonly #served = new Set<string>()
  readonly #open = new Map<string, number>()
  readonly #lastEnd = new Map<string, number>()

  constructor(clock: ReturnType<typeof virtualClock>, random: Random, hosts: number, perHost: number) {
    this.#clock = clock
    this.#random = random
    this.#hosts = hosts
    this.#perHost = perHost
    this.pages = hosts * perHost
  }

  get isComplete(): boolean {
    return this.#served.size === this.pages
  }

  url(host: number, page: number): string {
    return `https://h${host}.example/${page}`
  }

  async fetch(url: string, context: { onAbort?: unknown }, node: SimulatedNode): Promise<Outcome> {
    const { host } = new URL(url)
    const now = this.#clock.now()
    const open = this.#open.get(host) ?? 0
    this.requests++
    if (open > 0) this.findings.push(`two requests at ${host} at once`)
    const gap = now - (this.#lastEnd.get(host) ?? Number.NEGATIVE_INFINITY)
    if (open === 0 && gap < DELAY_MS - 0.01) this.findings.push(`${host} was visited after ${gap} ms`)
    this.#open.set(host, open + 1)
    let isAborted = false
    const aborted = new Promise<void>((resolve) => {
      Object.assign(context, {
        onAbort: () => {
          isAborted = true
          resolve()
        },
      })
    })
    await Promise.race([this.#clock.sleep(5 + 60 * this.#random.next()), aborted])
    this.#open.set(host, this.#open.get(host)! - 1)
    this.#lastEnd.set(host, this.#clock.now())
    if (node.isDead) return new Promise(() => {})
    if (isAborted) return { ok: false, code: 'aborted', message: 'aborted' }
    if (this.#served.has(url)) this.repeats++
    this.#served.add(url)
    const body = Buffer.from(this.#links(url))
    return {
      ok: true,
      status: 200,
      headers: HEADERS,
      body,
      wireBytes: body.length,
      skippedBody: false,
    } as Outcome
  }

  /** Page i of a host links to page i + 1, and to the start of the next host: so every page is reached. */
  #links(url: string): string {
    const [host, page] = /h(\d+)\.example\/(\d+)/.exec(url)!.slice(1).map(Number) as [number, number]
    const links = [this.url((host + 1) % this.#hosts, 0)]
    if (page + 1 < this.#perHost) links.push(this.url(host, page + 1))
    links.push(this.url((host + page) % this.#hosts, Math.min(page, this.#perHost - 1)))
    return links.map((link) => `<a href="${link}">x</a>`).join('')
  }

  /** Pages that nobody was given. */
  missing(): number {
    return this.pages - this.#served.size
  }
}
