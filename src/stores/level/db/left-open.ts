/**
 * Databases that must stay open until the process ends, because a dead thread has left an iterator in them: LevelDB aborts
 * the process that closes such a database, also when the process ends by itself.
 */

import type { Level } from 'level'

/** Folders, without links, whose databases this thread has left open. */
const leftOpen = new Set<string>()

/** A later crawl of the same thread joins the database that is still open, for LevelDB would not open it twice. */
export function isLeftOpen(place: string): boolean {
  return leftOpen.has(place)
}

/** From now on closing it, here or at the end of the process, closes only this hold of it. */
export async function leaveOpen(path: string, place: string, level: Level<string, string>): Promise<void> {
  if (level.status !== 'open') return
  leftOpen.add(place)
  const message =
    `the database in ${path} stays open until this process ends, for a worker thread died in the middle of reading it. ` +
    'All that was committed is there, and this process can go on with it; others find it locked'
  process.emitWarning(message, { type: 'KumoWarning' })
  // Its owners are counted. One more that never closes it keeps it open; no public method adds one.
  await (level as unknown as { _open(options: object): Promise<void> })._open({ multithreading: true })
}
