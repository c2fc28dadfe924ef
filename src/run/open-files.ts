/** How many files and sockets the system lets this process have open. */

import { readFileSync } from 'node:fs'

const LIMITS = '/proc/self/limits'
const OPEN_FILES = /^Max open files\s+(\d+|unlimited)/m

/** The current limit; undefined where the system does not tell, as outside of Linux. */
export function openFilesLimit(): number | undefined {
  try {
    return limitIn(readFileSync(LIMITS, 'utf8'))
  } catch {
    return undefined
  }
}

/** Exported for its tests. */
export function limitIn(limits: string): number | undefined {
  const [, most] = OPEN_FILES.exec(limits) ?? []
  if (most === undefined) return undefined
  return most === 'unlimited' ? Number.POSITIVE_INFINITY : Number(most)
}
