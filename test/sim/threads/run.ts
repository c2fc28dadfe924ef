/** Runs a drawn crawl over several simulated threads, and looks at it from outside. */

import { AbortGrace } from '../../../src/engine/abort-grace.js'
import type { Summary } from '../../../src/engine/stats/stats.js'
import { PageStream } from '../../../src/run/page-stream.js'
import { RunEvents } from '../../../src/run/run-events.js'
import { openWorkerRun } from '../../../src/run/threads/open.js'
import { WorkerRun } from '../../../src/run/threads/worker-run.js'
import { seededRandom } from '../../../src/time.js'
import type { CrewScenario } from './scenario.js'
import { Stage } from './stage.js'
import { simThreads } from './threads.js'
import { CrewWorld } from './world.js'

/** Far more than any of these crawls needs. */
const BOUND_MS = 900_000

/** What was seen of a run. */
export interface CrewRun extends Pick<CrewWorld, 'web' | 'visits' | 'delivered' | 'deaths' | 'replaced'> {
  readonly summary: Summary
  readonly startedAt: number
  readonly endedAt: number
  /** How often shards were told to look at the budget again. */
  readonly rouses: number
  readonly findings: readonly string[]
}

export async function runCrew(scenario: CrewScenario): Promise<CrewRun> {
  const world = new CrewWorld(scenario)
  const { clock, holdings } = world
  const startedAt = clock.now()
  const stage = new Stage(clock)
  const { crash, shards } = scenario
  const crawl = async () => {
    const first = await crawlOnce(scenario, world, stage, shards, crash?.afterMs)
    if (first !== CRASHED) return first
    // Whoever goes on has no more accidents.
    const quiet = { ...scenario, deaths: [], stalls: [], moves: [] }
    return (await crawlOnce(quiet, world, stage, crash!.shards)) as Summary
  }
  const summary = await clock.run(crawl(), { withinMs: BOUND_MS })
  const { web, visits, delivered, deaths, replaced } = world
  const seen = { web, visits, delivered, deaths, replaced, summary, startedAt, endedAt: clock.now() }
  return { ...seen, rouses: stage.count('budgetChanged'), findings: holdings.findings }
}

/** What a process answers that did not live to the end of its crawl. */
const CRASHED = Symbol('crashed')

/** A process from its start to its end. */
async function crawlOnce(
  scenario: CrewScenario,
  world: CrewWorld,
  stage: Stage,
  shards: number,
  crashAfterMs = Number.POSITIVE_INFINITY,
): Promise<Summary | typeof CRASHED> {
  const { seed, lateMs } = scenario
  let hasBegun = false
  const threads = simThreads({
    clock: world.clock,
    random: seededRandom(seed + shards),
    lateMs,
    adapt: (options, thread) => world.adapt(options, thread),
    died: (thread) => world.died(thread),
    posted(thread, { kind }) {
      if (!hasBegun && kind !== 'start') return
      if (!hasBegun) stage.play(scenario, cast)
      hasBegun = true
      stage.posted(kind, thread.shard)
    },
  })
  const { clock } = threads.main
  const patience = new AbortGrace(clock)
  const options = world.options(shards)
  const outputs = { events: new RunEvents(options.listeners), stream: new PageStream() }
  const workerRun = new WorkerRun(await openWorkerRun(options, outputs, () => {}, clock), patience, threads)
  const { holdings } = world
  const partitionOf = (host: number) => world.partitionOf(`h${host}.test`)
  const cast = { workerRun, threads, patience, holdings, partitionOf }
  const crashed = new Promise<typeof CRASHED>((resolve) => {
    world.clock.wakeAt(world.clock.now() + crashAfterMs, () => {
      threads.crash()
      resolve(CRASHED)
    })
  })
  const ended = workerRun.run().finally(() => patience.close())
  return crashAfterMs < Number.POSITIVE_INFINITY ? Promise.race([ended, crashed]) : ended
}
