/** What these tests share: a site with its server and a folder, all gone when the test ends, and chance. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Random, seededRandom } from 'kumo/adapters'
import { onTestFinished } from 'vitest'
import { type LoopbackWeb, startWeb } from '../loopback/web.js'
import { type Site, webOf } from './sites.js'

/** When kills come. `KUMO_SEED=123` draws others; what they hit is up to the machine. */
export function moments(): Random {
  return seededRandom(Number(process.env.KUMO_SEED ?? 1))
}

export interface FreshCrawl {
  readonly site: Site
  readonly web: LoopbackWeb
  readonly folder: string
}

export async function freshCrawl(site: Site): Promise<FreshCrawl> {
  const web = await startWeb(webOf(site))
  onTestFinished(() => web.close())
  return { site, web, folder: await freshFolder() }
}

export async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kumo-durability-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}
