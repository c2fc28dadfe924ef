/** Messages about a crawl that has lost data: how much, the consequences, and where the rest is. */

import { pluralize } from '../../../errors.js'
import type { Fault } from '../check/examine.js'
import type { Losses } from '../check/salvage.js'
import { totalOf } from '../format/counts.js'
import type { StoreMeta } from './store-meta.js'

/** Undefined if no commits are missing at the end. */
export function lostEndMessage(path: string, commits: number, tail: Fault | undefined): string | undefined {
  if (commits === 0 && tail === undefined) return undefined
  const loss =
    commits > 0
      ? `the last ${pluralize(commits, 'commit')} of the crawl in ${path} ${commits === 1 ? 'is' : 'are'} missing`
      : `the crawl in ${path} has lost its latest changes, because the end of ${tail!.file} is unreadable`
  return `${loss}, as after a power failure. It resumes from the state before, and fetches the affected pages again`
}

export interface Repair {
  readonly path: string
  /** Undefined: unknown. */
  readonly before: StoreMeta | undefined
  /** Undefined: nothing is left. */
  readonly after: StoreMeta | undefined
  /** Undefined: no file was damaged. */
  readonly losses: Losses | undefined
  /** Files that were moved to the folder `aside`. */
  readonly files: readonly string[]
  readonly aside: string | undefined
}

export function repairMessage({ path, after, losses, files, aside, ...repair }: Repair): string {
  const [known, pending] = [totalOf(after?.counts ?? [], 'known'), totalOf(after?.counts ?? [], 'pending')]
  const was = repair.before && {
    known: totalOf(repair.before.counts, 'known'),
    pending: totalOf(repair.before.counts, 'pending'),
  }
  const left =
    after === undefined
      ? 'nothing'
      : `${pluralize(known, 'known URL')}${before(was?.known)}, ${pending} pending${before(was?.pending)}`
  // A lost removal brings a request back, which may hide that another one is missing.
  const doubtful = (losses?.doubtful ?? 0) + (losses?.changes ?? 0)
  const missing = was && Math.max(0, was.pending - pending + doubtful)
  const again = was && Math.max(0, was.known - known) + doubtful
  const sentences = [
    `the crawl in ${path} was damaged and has been repaired; recovered: ${left}`,
    lostIn(losses),
    missing === undefined || again === undefined
      ? 'Pages may be missing, and others may be fetched again'
      : missing + again > 0
        ? `Up to ${missing} pending URLs are missing, and up to ${again} pages will be fetched again`
        : undefined,
    files.length > 0 ? `Damaged files were moved to ${aside}: ${files.join(', ')}` : undefined,
  ]
  return sentences.filter((sentence) => sentence !== undefined).join('. ')
}

function before(count: number | undefined): string {
  return count === undefined ? '' : ` (before: ${count})`
}

function lostIn(losses: Losses | undefined): string | undefined {
  if (losses === undefined || losses.tables + losses.changes === 0) return undefined
  const { tables, changes } = losses
  const lost = [
    tables > 0 ? `parts of ${pluralize(tables, 'table')}` : undefined,
    changes > 0 ? `${pluralize(changes, 'change')} in the log` : undefined,
  ]
  return `Lost: ${lost.filter((part) => part !== undefined).join(' and ')}`
}
