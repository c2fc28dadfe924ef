import { KumoError } from '../../errors.js'
import type { PageRecord, ServerRecord } from '../../refresh/contract.js'
import type { StateSpace } from '../../stores/contract.js'
import { readState } from '../../stores/level/opening/read-state.js'
import type { RefreshWorld } from './contract.js'
import { worldOf } from './described.js'

/** The world as the crawl in a folder has come to know it. The crawl may be going on. */
export async function crawledWorld(path: string): Promise<RefreshWorld> {
  const world = await readState(path, async (state) =>
    worldOf({
      servers: state.space('servers').entries() as AsyncIterable<readonly [string, ServerRecord]>,
      pages: state.space('pages').entries() as AsyncIterable<readonly [string, PageRecord]>,
      bytesPerPage: await bytesPerPage(state.space('crawl')),
    }),
  )
  if (world.servers.length > 0) return world
  const message = `the crawl in ${path} has learned nothing of its pages yet: only one with .refresh({ … }) does`
  throw new KumoError('KUMO_STORE_MISMATCH', message)
}

/** Of all answers with a body; each shard has counted its own. */
async function bytesPerPage(space: StateSpace): Promise<number | undefined> {
  let bytes = 0
  let answers = 0
  for await (const [name, fact] of space.entries()) {
    if (!name.startsWith('tally')) continue
    const tally = fact as { readonly bytes?: number; readonly statuses?: Readonly<Record<number, number>> }
    bytes += tally.bytes ?? 0
    answers += tally.statuses?.[200] ?? 0
  }
  return answers === 0 ? undefined : bytes / answers
}
