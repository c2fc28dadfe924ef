import type { RefreshPolicy } from './contract.js'

/** A policy other than `auto`: what `auto` resolves to. */
export type ResolvedPolicy = Exclude<RefreshPolicy, 'auto'>

/**
 * The sort key of a waiting server: the smallest goes first. Computed from its access interval I_i, its download time
 * e_i, and t.
 */
export type PolicyKey = (intervalMs: number, downloadMs: number, readyAt: number) => number

/**
 * Instants closer to the start of a period than doubles can resolve count as its start: a server that idles until then
 * must not end up in the last moment of the period before.
 */
export const ROUNDING = 2 ** -50

/**
 * D_i: the latest time at which the download of a server that begins to wait at `t` should begin (Tamura eq. 5). It is
 * the deadline of the period that contains `t`: missed rounds are cancelled, not queued.
 */
function deadlineAt(intervalMs: number, downloadMs: number, t: number): number {
  if (intervalMs === Number.POSITIVE_INFINITY) return intervalMs
  const period = Math.floor((t / intervalMs) * (1 + ROUNDING))
  return (period + 1) * intervalMs - downloadMs
}

/** The policies that Tamura & Kitsuregawa compare. */
export const POLICIES: Readonly<Record<ResolvedPolicy, PolicyKey>> = {
  edf: deadlineAt,
  freq: (intervalMs) => intervalMs,
  fcfs: (_intervalMs, _downloadMs, readyAt) => readyAt,
  rm: (intervalMs, downloadMs) => -downloadMs / intervalMs,
  sjf: (_intervalMs, downloadMs) => downloadMs,
}

/**
 * The policy in effect. `auto`: while sockets suffice (Tamura eq. 4), EDF misses nothing; while they do not, SJF misses
 * least. It stays with SJF while a stretch fits the schedule to the sockets: in that case too, visits are less late
 * with SJF than with EDF (experiments/refresh/spare.ts).
 */
export function resolvePolicy(policy: RefreshPolicy, socketsSuffice: boolean): ResolvedPolicy {
  if (policy !== 'auto') return policy
  return socketsSuffice ? 'edf' : 'sjf'
}
