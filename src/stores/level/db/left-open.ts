/**
 * Databases that must stay open until the process ends, because a dead thread has left an iterator in them: LevelDB aborts
 * the process that closes such a database, also when the process ends by itself.
 */

import type { Level } from 'level'

/** Folders, without links, whose databases this thread has left open. */
const leftOpen = new Set<string>()

/** A later crawl of the same thread joins the database that is still open, for LevelDB would not open it twice. */
export function isLeftOpen(realPath: string): boolean {
  return leftOpen.has(realPath)
}

/** From now on closing it, here or at the end of the process, closes only this hold of it. */
export async function leaveOpen(path: string, realPath: string, level: Level<string, string>): Promise<void> {
  if (level.status !== 'open') return
  leftOpen.add(realPath)
  const message =
    `the database in ${path} stays open until this process exits, because a worker thread died while reading it. ` +
    'Everything committed is intact, and this process can resume the crawl; for other processes it stays locked'
  process.emitWarning(message, { type: 'KumoWarning' })
  // Its owners are counted. One more that never closes it keeps it open; no public method adds one.
  await (level as unknown as { _open(options: object): Promise<void> })._open({ multithreading: true })
}
