/** A crawl on Redis as the thread sees it that starts workers: each worker is a member of its own. */

import { KumoError } from '../../errors.js'
import { LATE, within } from '../../time.js'
import type { SharedStore, StoreContext } from '../contract.js'
import { connect } from './client/connect.js'
import { SharedState } from './parts/shared-state.js'
import { LEAVE } from './protocol/scripts.js'
import { patient } from './session/patient.js'
import { PlaceOfThread, placesMemory, type SharedPlaces } from './session/places.js'
import { isPassing } from './session/troubles.js'
import { keyOf, type Settings } from './settings.js'

const RETRY_MS = 250
/** How long the end of a run waits for the server. */
const LEAVE_MS = 2000

/** Opens what the threads share: the memory of their places, and records for hooks in this thread. */
export async function share(
  settings: Settings,
  { clock, partitionOf }: StoreContext,
  shards: number,
): Promise<SharedStore> {
  assertPortable(settings)
  const client = patient(await connect(settings.connection), clock)
  const key = keyOf(settings.crawl)
  const memory = placesMemory(shards)
  const places = Array.from({ length: shards }, (_, shard) => new PlaceOfThread(memory, shard))
  const members = () => places.map((place) => place.read()).filter((place) => place !== undefined)
  const state = new SharedState({
    ...{ client, key, members },
    partitionOf: (host) => partitionOf?.(host) ?? 0,
    async retry(error) {
      if (!isPassing(error)) throw error
      await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + RETRY_MS, resolve))
    },
  })
  let isClosed = false
  return {
    hasMembers: true,
    shared: { memory } satisfies SharedPlaces,
    state,
    flush: () => state.flush(),
    async close() {
      if (isClosed) return
      isClosed = true
      try {
        const late = (await within(clock, LEAVE_MS, state.flush())) === LATE
        if (late)
          throw new KumoError('KUMO_CLOSE_FAILED', 'redis: the server did not answer, so records are lost')
        // Threads that were ended and not replaced could not leave. If the server is away, their leases run out.
        const leaving = members().map(({ id, token }) => client.run(LEAVE, key, [id, token, 'dirty']))
        await within(clock, LEAVE_MS, Promise.allSettled(leaving))
      } finally {
        client.close()
      }
    },
  }
}

/** @throws KumoError `KUMO_NOT_PORTABLE` */
function assertPortable({ connection }: Settings): void {
  try {
    structuredClone(connection)
  } catch (cause) {
    const message =
      'redis: tls: a function cannot be sent to worker threads; remove it, or start a process for each core instead of workers()'
    throw new KumoError('KUMO_NOT_PORTABLE', message, { cause })
  }
}
