/** Worlds for `simulateRefresh`: from a short description, or from the records of a crawl. */

import { invalidOption } from '../../errors.js'
import type { PageRecord, ServerRecord } from '../../refresh/contract.js'
import { type Random, seededRandom } from '../../time.js'
import { hostOf } from '../../url/canonicalize.js'
import { urlIn } from '../../url/known-as.js'
import { normalQuantile } from './chance.js'
import type { RefreshWorld, SimulatedPage, SimulatedServer } from './contract.js'

/**
 * How a value varies between pages or servers. `mean`: it does not. `median` and `spread`: log-normal, where the spread
 * is the standard deviation of the logarithms. `min` and `max`: log-uniform between them.
 */
export type Distribution =
  | { readonly mean: number }
  | { readonly median: number; readonly spread: number }
  | { readonly min: number; readonly max: number }

/** A short description of a world. */
export interface WorldDescription {
  readonly servers: number
  readonly pagesPerServer: number
  /** The mean interval between the changes of a page. */
  readonly changeMs: Distribution
  /** The mean duration of a server's downloads. */
  readonly downloadMs: Distribution
  /** Default 1. */
  readonly seed?: number
}

/** Generates a world from a description; the same seed gives the same world. */
export function describeWorld(description: WorldDescription): RefreshWorld {
  const { servers, pagesPerServer, changeMs, downloadMs, seed = 1 } = description
  const random = seededRandom(seed)
  const change = drawer('changeMs', changeMs, random)
  const download = drawer('downloadMs', downloadMs, random)
  return {
    servers: Array.from({ length: servers }, (_, i) => ({
      host: `server-${i + 1}.example`,
      downloadMs: download(),
      pages: Array.from({ length: pagesPerServer }, () => ({ changeMs: change() })),
    })),
  }
}

/** The records of a crawl; a store may return them piece by piece. */
export interface RefreshRecords {
  /** By host. */
  readonly servers: Records<ServerRecord>
  /** By URL. */
  readonly pages: Records<PageRecord>
  /** What a visit downloads. Default: that of `SimulatedPage`. */
  readonly bytesPerPage?: number | undefined
}

type Records<T> = Iterable<readonly [string, T]> | AsyncIterable<readonly [string, T]>

/** The world that a crawl knows: its estimates are taken as the truth. Pages that are gone are left out. */
export async function worldOf({ servers, pages, bytesPerPage }: RefreshRecords): Promise<RefreshWorld> {
  const byHost = new Map<string, SimulatedPage[]>()
  for await (const [name, { change, gone }] of pages) {
    if (gone !== undefined) continue
    const host = hostOf(urlIn(name))
    const known = byHost.get(host)
    const page = bytesPerPage === undefined ? { changeMs: change } : { changeMs: change, bytes: bytesPerPage }
    if (known === undefined) byHost.set(host, [page])
    else known.push(page)
  }
  const records = new Map<string, ServerRecord>()
  let downloads = 0
  let known = 0
  for await (const [host, record] of servers) {
    if (!byHost.has(host)) continue
    records.set(host, record)
    if (record.download > 0) {
      downloads += visitMs(record)
      known++
    }
  }
  const usual = known === 0 ? USUAL_DOWNLOAD_MS : downloads / known
  return { servers: [...byHost].map(([host, its]) => serverOf(host, its, records.get(host), usual)) }
}

/** The mean that Tamura & Kitsuregawa measured. */
const USUAL_DOWNLOAD_MS = 1000

function serverOf(
  host: string,
  pages: readonly SimulatedPage[],
  record: ServerRecord | undefined,
  usual: number,
): SimulatedServer {
  const downloadMs = (record && visitMs(record)) || usual
  return record?.delay === undefined
    ? { host, pages, downloadMs }
    : { host, pages, downloadMs, delayMs: record.delay }
}

function drawer(name: string, distribution: Distribution, random: Random): () => number {
  if ('mean' in distribution) {
    const { mean } = distribution
    assert(name, mean > 0, distribution)
    return () => mean
  }
  const chance = () => (random.next() * 2 ** 32 + 0.5) / (2 ** 32 + 1)
  if ('median' in distribution) {
    const { median, spread } = distribution
    assert(name, median > 0 && spread >= 0, distribution)
    return () => median * Math.exp(spread * normalQuantile(chance()))
  }
  const { min, max } = distribution
  assert(name, min > 0 && max >= min && max < Number.POSITIVE_INFINITY, distribution)
  return () => min * (max / min) ** chance()
}

function assert(name: string, isValid: boolean, distribution: Distribution): void {
  if (isValid) return
  throw invalidOption(name, distribution, 'numbers above 0, with min ≤ max')
}

/** How long a visit holds its socket. */
function visitMs({ download, held = 0 }: ServerRecord): number {
  return download > 0 ? download + held : 0
}
