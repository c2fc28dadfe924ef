/** One crawl over many runs: interrupted, and started again on the same store, until it ends by itself. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { MaybePromise, Random } from 'kumo/adapters'
import type { LoopbackWeb } from '../loopback/web.js'
import { type Interruption, type Run, run, type Task } from './run.js'

/** When kills come: between the two, each moment as likely as the other. */
export interface Span {
  readonly earliestMs: number
  readonly latestMs: number
}

/** So many kills hit the program while it starts, opens its store and takes up the crawl. */
const EARLY_SHARE = 0.15
/** From about the time that Node needs to start at all until the crawl is surely under way. */
const EARLY: Span = { earliestMs: 60, latestMs: 500 }

/** A moment at random after the first request of a run, or now and then one at which it has just begun. */
export function drawKill(web: Pick<LoopbackWeb, 'nextRequest'>, span: Span, random: Random): Interruption {
  const isEarly = random.next() < EARLY_SHARE
  const ms = drawFrom(isEarly ? EARLY : span, random)
  const moment = isEarly ? () => sleep(ms) : afterFirstRequest(web, ms)
  return { signal: 'SIGKILL', moment }
}

export function drawFrom({ earliestMs, latestMs }: Span, random: Random): number {
  return earliestMs + random.next() * (latestMs - earliestMs)
}

/** So many ms after the first request of a run. */
export function afterFirstRequest(web: Pick<LoopbackWeb, 'nextRequest'>, ms: number): () => Promise<unknown> {
  return () => web.nextRequest().then(() => sleep(ms))
}

/** Asked before each run, with those before it, how the run is to be interrupted; undefined: not at all. */
export type NextInterruption = (runs: readonly Run[]) => MaybePromise<Interruption | undefined>

/** Runs the program until its crawl is over. */
export async function interruptedCrawl(task: Task, next: NextInterruption): Promise<Run[]> {
  const runs: Run[] = []
  for (;;) {
    const each = await run(task, await next(runs))
    runs.push(each)
    if (each.ending !== undefined && each.ending.reason !== 'stopped') return runs
  }
}
