/** The lease of one node in told time, on a server that is away for a while. */

import { virtualClock } from 'kumo/sim'
import { expect, test } from 'vitest'
import type { RedisClient } from '../../../../src/stores/redis/client/contract.js'
import { Journal } from '../../../../src/stores/redis/session/journal.js'
import { ServerTime } from '../../../../src/stores/redis/session/server-time.js'
import { Session } from '../../../../src/stores/redis/session/session.js'
import { Shares } from '../../../../src/stores/redis/session/shares.js'
import { Twin } from '../twin.js'

const TTL_MS = 1000

test.each([1500, 1700, 2400])(
  'a call that waited for the server until %i ms begins no visit that the end of the lease would abort',
  async (backAt) => {
    const clock = virtualClock()
    const twin = new Twin(() => clock.now())
    const start = clock.now()
    const reachable = async () => {
      await clock.sleep(1)
      const elapsed = clock.now() - start
      if (elapsed > 700 && elapsed < backAt) await clock.sleep(backAt - elapsed)
    }
    const client: RedisClient = {
      ...twin.client(),
      run: async (script, key, args) => {
        await reachable()
        return twin.call(script, key, args)
      },
      runConfirmed: async (script, key, args) => {
        await reachable()
        return { reply: twin.call(script, key, args), isConfirmed: true }
      },
    }
    const resumedWith: number[] = []
    const pauses: string[] = []
    const session: Session = new Session(
      {
        ...{ client, clock, key: '{kumo:one}', ttlMs: TTL_MS, commitMs: 50, partitions: 16, identity: '{}' },
        ...{ journal: new Journal(), shares: new Shares(), time: new ServerTime(clock) },
        newToken: () => 'token',
      },
      {
        status() {},
        resumed: () => void resumedWith.push(session.mayVisit ? session.leaseLeftMs : 0),
        suspended: (message) => void pauses.push(message),
        stalled() {},
        lost: ({ reason }) => void pauses.push(reason),
        failed: (error) => void pauses.push(error.message),
      },
    )
    const crawl = async () => {
      await session.join()
      await clock.sleep(backAt + 2 * TTL_MS)
      expect(session.mayVisit).toBe(true)
      session.abandon()
    }
    await clock.run(crawl())
    expect(pauses).toHaveLength(1)
    expect(resumedWith).toHaveLength(2)
    for (const leftMs of resumedWith) expect(leftMs).toBeGreaterThan(0.8 * TTL_MS)
  },
)
