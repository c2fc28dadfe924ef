/** Kills a crawler so many times: crawl after crawl of the same site, each killed until it is done. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Random } from 'kumo/adapters'
import { startWeb } from '../loopback/web.js'
import { crawlSite } from './crawl-site.js'
import { drawKill } from './interrupted-crawl.js'
import type { Run, Task } from './run.js'
import { type Site, webOf } from './sites.js'
import type { Verdict } from './verdict.js'

export interface KillRounds {
  readonly site: Site
  /** As many kills in all; a crawl that is done before is followed by another. */
  readonly kills: number
  readonly random: Random
  readonly level?: Task['level']
  readonly workers?: number
  /** Told after each kill how many there were, and how many pages of the crawl had been served. */
  onKill?(kills: number, pagesServed: number): void
}

/** A verdict for each crawl. The last one is left alone after the last kill. */
export async function killRounds({
  site,
  kills,
  random,
  level,
  workers,
  onKill,
}: KillRounds): Promise<Verdict[]> {
  const web = await startWeb(webOf(site))
  try {
    const verdicts: Verdict[] = []
    let earlier = 0
    while (earlier < kills) {
      const next = async (runs: readonly Run[]) => {
        const here = runs.filter(({ killed }) => killed).length
        if (runs.at(-1)?.killed) onKill?.(earlier + here, (await web.report()).distinctPages)
        return earlier + here < kills ? drawKill(web, site.kills, random) : undefined
      }
      const folder = await mkdtemp(join(tmpdir(), 'kumo-kills-'))
      const { verdict } = await crawlSite({
        site,
        web,
        folder,
        next,
        ...(level && { level }),
        ...(workers && { workers }),
      })
      // A crawl that failed leaves its folder behind, to be looked at.
      await rm(folder, { recursive: true })
      if (verdict.kills === 0)
        throw new Error(`The ${site.name} site is crawled faster than it can be killed.`)
      verdicts.push(verdict)
      earlier += verdict.kills
    }
    return verdicts
  } finally {
    await web.close()
  }
}
