/**
 * Three nodes, and a web of which 80 % belongs to one of them: how soon the crawl is finished with and without moving
 * hosts to the others. A visit is mostly waiting, so three processes on few cores do not disturb each other.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Redis } from 'ioredis'
import { byHost } from 'kumo/adapters'
import { type LoopbackWeb, startWeb } from '../test/loopback/web.js'
import { type Figure, median } from './report.js'

const NODES = 3
const SLOTS = 2
const HOSTS = 300
/** Hosts that are crawled, and how many of them fall to one node. */
const CRAWLED = 50
const OF_ONE = 40
const PAGES = 20
const LATENCY_MS: [number, number] = [10, 30]
const DELAY_MS = 10
const TURNS = 3

const script = fileURLToPath(new URL('./redis-child.mjs', import.meta.url))

interface Outcome {
  readonly seconds: number
  /** Pages missing or served twice, overlaps and pauses too short, by the log of the server. */
  readonly faults: number
  readonly mostOfOne: number
}

export async function balanced(url: string, client: Redis): Promise<Figure[]> {
  const web = await startWeb({
    hosts: HOSTS,
    pagesPerHost: PAGES,
    linksPerPage: 20,
    latencyMs: LATENCY_MS,
    bytes: 3000,
  })
  const outcomes: { with: Outcome; without: Outcome }[] = []
  try {
    for (let turn = 0; turn < TURNS; turn++) {
      const without = await crawl(url, client, web, `still-${turn}`, false)
      outcomes.push({ without, with: await crawl(url, client, web, `even-${turn}`, true) })
    }
  } finally {
    await web.close()
  }
  const middle = (of: (outcome: (typeof outcomes)[number]) => number) => median(outcomes.map(of))
  const share = OF_ONE / CRAWLED
  return [
    {
      what: 'three nodes, 80 % of the work at one: without balancing',
      value: middle((o) => o.without.seconds),
      unit: 's',
    },
    { what: 'with balancing', value: middle((o) => o.with.seconds), unit: 's' },
    {
      what: 'finish with ÷ without',
      value: middle((o) => o.with.seconds / o.without.seconds),
      unit: '',
      bar: { atMost: 0.75 },
    },
    { what: 'the ideal of that', value: 1 / NODES / share, unit: '' },
    { what: 'pages of the busiest node, with', value: middle((o) => o.with.mostOfOne), unit: '' },
    { what: 'pages of the busiest node, without', value: middle((o) => o.without.mostOfOne), unit: '' },
    {
      what: 'pages missing or twice, overlaps, short pauses (server log)',
      value: outcomes.reduce((sum, o) => sum + o.with.faults + o.without.faults, 0),
      unit: '',
      bar: { atMost: 0 },
    },
  ]
}

async function crawl(
  url: string,
  client: Redis,
  web: LoopbackWeb,
  name: string,
  balance: boolean,
): Promise<Outcome> {
  await web.reset()
  const nodes: Child[] = []
  for (let i = 0; i < NODES; i++) {
    const order = { url, crawl: name, balance, concurrency: SLOTS, delayMs: DELAY_MS }
    nodes.push(
      new Child(
        spawn(process.execPath, [script, 'node', JSON.stringify(order)], {
          stdio: ['pipe', 'pipe', 'inherit'],
        }),
      ),
    )
  }
  await Promise.all(nodes.map((node) => node.heard('ready')))
  const seeds = await skewed(client, `{kumo:${name}}:own`, web)
  const startedAt = performance.now()
  nodes[0]!.say({ add: seeds })
  await nodes[0]!.heard('added')
  for (const node of nodes) node.say({ finish: true })
  const pages = await Promise.all(nodes.map(async (node) => Number((await node.heard('done')).pages)))
  const seconds = (performance.now() - startedAt) / 1000
  const { distinctPages, duplicates, perHost } = await web.report(0, { gapMs: DELAY_MS })
  const missing = CRAWLED * PAGES - distinctPages
  return {
    seconds,
    faults: missing + duplicates + perHost.overlaps + perHost.belowGap,
    mostOfOne: Math.max(...pages),
  }
}

/** Start pages of hosts, most of them of one node. */
async function skewed(client: Redis, own: string, web: LoopbackWeb): Promise<string[]> {
  const partitioner = byHost()
  let owners: Record<string, string> = {}
  for (;;) {
    owners = await client.hgetall(own)
    const counts = new Map<string, number>()
    for (const owner of Object.values(owners)) counts.set(owner, (counts.get(owner) ?? 0) + 1)
    if (counts.size === NODES && Math.max(...counts.values()) <= Math.ceil(partitioner.partitions / NODES))
      break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const ofOne: string[] = []
  const others: string[] = []
  for (const seed of web.seeds(HOSTS)) {
    const owner = owners[partitioner.partition(new URL(seed).host)]
    if (owner === '1') ofOne.push(seed)
    else others.push(seed)
  }
  return [...ofOne.slice(0, OF_ONE), ...others.slice(0, CRAWLED - OF_ONE)]
}

/** A node that says and hears lines of JSON. */
export class Child {
  readonly #process: ChildProcess
  readonly #heard: Record<string, unknown>[] = []
  #notify: () => void = () => {}

  constructor(process: ChildProcess) {
    this.#process = process
    let rest = ''
    process.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) this.#heard.push(JSON.parse(line))
      this.#notify()
    })
  }

  say(what: object): void {
    this.#process.stdin!.write(`${JSON.stringify(what)}\n`)
  }

  async heard(what: string): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.#heard.find((each) => each.what === what)
      if (found !== undefined) return found
      await new Promise<void>((resolve) => {
        this.#notify = resolve
      })
    }
  }
}
