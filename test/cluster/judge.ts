/** What the log of the web says about a crawl while something failed. */

import type { Random } from 'kumo/adapters'
import type { WebRequest } from '../loopback/web.js'
import { Cluster, type Heard, TTL_MS } from './cluster.js'
import type { Fault, Window } from './faults.js'

/** The longest that hosts of a node that was killed may be without visits. */
const TAKEOVER_MS = 1.25 * TTL_MS + 2000
/** From SIGTERM to the end of a process, with the longest visit of the web. */
const LEAVE_MS = 1000 + 30

export interface Judged {
  readonly missing: number
  readonly overlaps: number
  readonly belowGap: number
  readonly repeats: number
  /** False: processes got no CPU for a while. Neither repeats nor times are judged. */
  readonly isCalm: boolean
  /** How many requests may have been repeated. */
  readonly allowedRepeats: number
  /** After a kill: how long a host was without a visit. */
  readonly takeoverMs: number | undefined
  /** The longest that a node took to leave. */
  readonly leftMs: number | undefined
  /** What broke a promise. */
  readonly findings: readonly string[]
}

/** Lets a crawl run while something fails, and judges it. `isTimed`: the machine is free enough to judge times too. */
export async function judgeFault(
  { name, options, inject }: Fault,
  random: Random,
  isTimed: boolean,
): Promise<Judged> {
  const cluster = await Cluster.start(options)
  try {
    const { mayRepeat = [], killedAt, leftMs: left = [], stopped } = await inject(cluster, random)
    await cluster.finish()
    const log = await cluster.log()
    const judgement = await cluster.judge()
    const allowedRepeats = log.filter((request) => mayRepeat.some((window) => isIn(request, window))).length
    const takeoverMs = killedAt === undefined ? undefined : takeover(log, killedAt)
    const leftMs = left.length > 0 ? Math.max(...left) : undefined
    const findings: string[] = []
    const { missing, overlaps, belowGap, repeats } = judgement
    for (const [what, count] of Object.entries({ missing, overlaps, belowGap }))
      if (count > 0) findings.push(`${name}: ${what}: ${count}`)
    // Processes that get no CPU lose their leases; their pages are repeated, as they should be.
    const isCalm = cluster.nodes.every((node) => node === stopped || !node.heard.some(isStarved))
    if (isCalm && repeats > allowedRepeats)
      findings.push(`${name}: ${repeats} repeats, ${allowedRepeats} allowed`)
    if (!cluster.nodes.some(({ result }) => result?.reason === 'done'))
      findings.push(`${name}: no node says that the crawl is done`)
    for (const { result } of cluster.nodes)
      if (result?.what === 'failed') findings.push(`${name}: a node failed: ${result.message}`)
    if (isTimed && isCalm && takeoverMs !== undefined && takeoverMs > TAKEOVER_MS)
      findings.push(`${name}: taken over after ${Math.round(takeoverMs)} ms`)
    if (isTimed && isCalm && leftMs !== undefined && leftMs > LEAVE_MS)
      findings.push(`${name}: a node took ${Math.round(leftMs)} ms to leave`)
    return { ...judgement, isCalm, allowedRepeats, takeoverMs, leftMs, findings }
  } finally {
    await cluster.close()
  }
}

function isStarved({ what }: Heard): boolean {
  return what === 'starved'
}

function isIn({ start, end }: WebRequest, [from, to]: Window): boolean {
  return start <= to && end >= from
}

/** The longest that a host that had been visited before waited for its next visit. */
function takeover(log: readonly WebRequest[], killedAt: number): number {
  const visitedBefore = new Set<number>()
  const next = new Map<number, number>()
  for (const { host, start } of log) {
    if (start < killedAt) visitedBefore.add(host)
    else if (visitedBefore.has(host) && !next.has(host)) next.set(host, start)
  }
  return Math.max(0, ...[...next.values()].map((start) => start - killedAt))
}
