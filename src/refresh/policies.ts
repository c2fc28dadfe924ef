import type { RefreshPolicy } from './contract.js'

/** A policy by its own name: what `auto` comes down to. */
export type PlainPolicy = Exclude<RefreshPolicy, 'auto'>

/** The place of a waiting server: the smallest goes first. Of its access interval I_i, its download time e_i, and t. */
export type PolicyKey = (intervalMs: number, downloadMs: number, readyAt: number) => number

/**
 * Instants closer to the start of a period than doubles can resolve count as its start: a server that idles until then
 * must not end up in the last moment of the period before.
 */
export const ROUNDING = 2 ** -50

/**
 * D_i: when the download of a server that begins to wait at `t` should begin at the latest (Tamura eq. 5). It is that of
 * the period that `t` is in: rounds that were missed are cancelled, not queued.
 */
function deadlineAt(intervalMs: number, downloadMs: number, t: number): number {
  if (intervalMs === Number.POSITIVE_INFINITY) return intervalMs
  const period = Math.floor((t / intervalMs) * (1 + ROUNDING))
  return (period + 1) * intervalMs - downloadMs
}

/** The policies that Tamura & Kitsuregawa compare. */
export const POLICIES: Readonly<Record<PlainPolicy, PolicyKey>> = {
  edf: deadlineAt,
  freq: (intervalMs) => intervalMs,
  fcfs: (_intervalMs, _downloadMs, readyAt) => readyAt,
  rm: (intervalMs, downloadMs) => -downloadMs / intervalMs,
  sjf: (_intervalMs, downloadMs) => downloadMs,
}

/**
 * The policy that chooses now. `auto`: where sockets suffice (Tamura eq. 4), EDF misses nothing; where they do not, SJF
 * misses least. It stays with SJF while a correction fits the schedule to the sockets: there too visits are less late by
 * SJF than by EDF (experiments/refresh/spare.ts).
 */
export function plainPolicy(policy: RefreshPolicy, socketsSuffice: boolean): PlainPolicy {
  if (policy !== 'auto') return policy
  return socketsSuffice ? 'edf' : 'sjf'
}
