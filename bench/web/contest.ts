/**
 * Crawlers on one web, turn by turn. Each is a process that stays for all turns; the log of the server tells what it
 * asked for. CPU time is compared within a turn, so that a noisy moment of the machine hits all of them.
 */

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { forkPlain } from '../child.js'
import { type Figure, median } from '../report.js'
import type { BenchWeb, Served, ServedUrl } from './web.js'

/** What a contestant is told once, at the start. */
export interface Contest {
  readonly name: string
  readonly seeds: readonly string[]
  readonly concurrency: number
  /** Connections to one host. */
  readonly perHost: number
  readonly delayMs: number
  readonly workers: number
  readonly store: 'memory' | 'level'
  readonly ca?: string | undefined
  /** Further options of the crawler, by name. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** For undici, which follows no links. */
  readonly urls?: readonly { readonly origin: string; readonly path: string }[]
}

/** What it answers after each turn, with what the server saw. */
export interface Turn {
  readonly pages: number
  readonly seconds: number
  readonly cpuMs: number
  readonly rssMb: number
  readonly served: Served
}

/** Something that takes turns on a web. */
export interface Contestant {
  readonly turns: Turn[]
  run(): Promise<Omit<Turn, 'served'>>
  close(): void
}

/** @param limits How many files its process may have open. */
export async function contestant(
  contest: Contest,
  limits: { readonly descriptors?: number | undefined } = {},
): Promise<Contestant> {
  const child = forkPlain('web/contestant.mjs', limits.descriptors)
  child.setMaxListeners(0)
  await ask(child, contest)
  return { turns: [], run: () => ask(child, 'run'), close: () => child.disconnect() }
}

async function ask<T>(child: ChildProcess, message: unknown): Promise<T> {
  const died = once(child, 'exit').then((): never => {
    throw new Error('a contestant has ended before it was told to')
  })
  const answered = once(child, 'message')
  child.send(message as object)
  const [answer] = await Promise.race([answered, died])
  return answer
}

/** Each in its turn; the first turns are for the compiler. */
export async function takeTurns(
  web: BenchWeb,
  contestants: readonly Contestant[],
  { warmUps, turns }: { readonly warmUps: number; readonly turns: number },
): Promise<void> {
  for (let turn = 0; turn < warmUps + turns; turn++) {
    for (const each of contestants) {
      await web.reset()
      const result = await each.run()
      if (turn >= warmUps) each.turns.push({ ...result, served: await web.report() })
    }
  }
  for (const each of contestants) each.close()
}

/** All that a crawl asks for, in an order in which the hosts take turns. */
export async function urlsAskedFor(
  web: BenchWeb,
  contest: Contest,
): Promise<{ readonly asked: readonly ServedUrl[]; readonly urls: NonNullable<Contest['urls']> }> {
  const scout = await contestant(contest)
  await web.reset()
  await scout.run()
  scout.close()
  const { urls: asked } = await web.log()
  const byHost = new Map<number, ServedUrl[]>()
  for (const each of asked) {
    const others = byHost.get(each.host)
    if (others === undefined) byHost.set(each.host, [each])
    else others.push(each)
  }
  const longest = Math.max(...[...byHost.values()].map(({ length }) => length))
  const urls: { origin: string; path: string }[] = []
  for (let i = 0; i < longest; i++) {
    for (const each of byHost.values()) {
      if (each[i] === undefined) continue
      const { url, path } = each[i]!
      urls.push({ origin: url.slice(0, url.length - path.length), path })
    }
  }
  return { asked, urls }
}

export function cpu(what: string, { turns }: Contestant): Figure {
  return { what: `${what}, CPU`, value: median(turns.map(cpuMicros)), unit: 'µs/page' }
}

export function pace(what: string, { turns }: Contestant): Figure {
  return { what, value: median(turns.map(({ pages, seconds }) => pages / seconds)), unit: 'pages/s' }
}

export function cpuMicros({ cpuMs, pages }: Turn): number {
  return (1000 * cpuMs) / pages
}

/** The median of what is compared in each turn. */
export function ratio(
  what: string,
  ours: Contestant,
  theirs: Contestant,
  of: (turn: Turn) => number,
  bar?: Figure['bar'],
): Figure {
  const value = median(ours.turns.map((turn, i) => of(turn) / of(theirs.turns[i]!)))
  return { what, value, unit: '', ...(bar && { bar }) }
}
