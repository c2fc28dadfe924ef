import { KumoError } from '../../errors.js'
import type { PageRecord, ServerRecord } from '../../refresh/contract.js'
import type { StateSpace } from '../../stores/contract.js'
import { readState } from '../../stores/level/opening/read-state.js'
import type { RefreshWorld } from './contract.js'
import { worldOf } from './described.js'

/** The world that the crawl in a folder knows. The crawl may be running. */
export async function crawledWorld(path: string): Promise<RefreshWorld> {
  const world = await readState(path, async (state) =>
    worldOf({
      servers: state.space('servers').entries() as AsyncIterable<readonly [string, ServerRecord]>,
      pages: state.space('pages').entries() as AsyncIterable<readonly [string, PageRecord]>,
      bytesPerPage: await bytesPerPage(state.space('crawl')),
    }),
  )
  if (world.servers.length > 0) return world
  const message = `the crawl in ${path} has no refresh data: run it with .refresh({ … }) first`
  throw new KumoError('KUMO_STORE_MISMATCH', message)
}

/** Mean over all responses with a body; each shard has its own count. */
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
