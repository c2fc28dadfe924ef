import type { Clock, Timer } from '../../../time.js'
import type { RedisClient } from '../client/contract.js'
import { isPassing } from './troubles.js'

/** Between attempts to read from a server that is away. */
const RETRY_MS = 250

/** A client whose reads wait for a server that is away, as scripts do. */
export function patient(client: RedisClient, clock: Clock): RedisClient {
  const waiting = new Set<Timer>()
  let isClosed = false
  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = clock.wakeAt(clock.now() + RETRY_MS, () => {
        waiting.delete(timer)
        resolve()
      })
      waiting.add(timer)
    })
  return {
    replicas: client.replicas,
    run: (script, key, args) => client.run(script, key, args),
    runConfirmed: (script, key, args, timeoutMs) => client.runConfirmed(script, key, args, timeoutMs),
    async read(commands) {
      for (;;) {
        try {
          return await client.read(commands)
        } catch (error) {
          if (isClosed || !isPassing(error)) throw error
        }
        await pause()
      }
    },
    reconnect: () => client.reconnect(),
    close() {
      isClosed = true
      for (const timer of waiting) timer.cancel()
      client.close()
    },
  }
}
