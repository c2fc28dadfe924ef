/** Cases about many hosts at once: each gets its turn, no matter what visits to the others discover. */

import assert from 'node:assert/strict'
import type { Frontier, Settlement } from '../../frontier/contract.js'
import type { CrawlRequest } from '../../types.js'
import { type Check, HURRIED, ORDINARY, request, START } from './fixtures.js'

/** More than a frontier with a small window would keep in it. */
const HOSTS = 300
const ROUNDS = 6
/** Requests that are leased together. The number of hosts is not a multiple of it, so that no two rounds are alike. */
const AT_ONCE = 7
/** Time between two leases: all hosts have rested when the first one's turn comes again. */
const STEP_MS = 50
/** By then, all hosts have been visited once: revisits, which go before new pages, are not due earlier. */
const ROUND_MS = STEP_MS * Math.ceil(HOSTS / AT_ONCE)
/** How much more often one host may be visited than another, if both were ready all the time. */
const UNEVEN = 1.5

export function fairnessCases(check: Check): void {
  for (const politeness of [HURRIED, ORDINARY]) {
    const pause = `pause ${politeness.delayMs} ms`
    check(
      `${HOSTS} hosts with links to themselves get equal turns, ${pause}`,
      politeness,
      async (frontier) => {
        await equalTurns(frontier, (lease, now, visit) => ({
          request: lease,
          visitedAt: now,
          found: [request(lease.host, visit)],
        }))
      },
    )

    check(`${HOSTS} hosts with revisits get equal turns, ${pause}`, politeness, async (frontier) => {
      await equalTurns(frontier, (lease, now) => ({
        request: lease,
        visitedAt: now,
        again: { at: now + ROUND_MS, attempt: 0, revisit: true },
      }))
    })
  }
}

type End = (lease: CrawlRequest, now: number, visit: number) => Settlement

async function equalTurns(frontier: Frontier, end: End): Promise<void> {
  const visits = new Map<string, number>()
  const hosts = Array.from({ length: HOSTS }, (_, i) => `host${i}.example`)
  await frontier.add(hosts.map((host) => request(host, 0)))
  let now = START
  for (let done = 0; done < ROUNDS * HOSTS; now += STEP_MS) {
    const leases = await frontier.lease(AT_ONCE, now)
    assert.ok(leases.length > 0, `nothing was handed out after ${done} visits, although hosts are ready`)
    done += leases.length
    for (const { host } of leases) visits.set(host, (visits.get(host) ?? 0) + 1)
    await frontier.settle(leases.map((lease) => end(lease, now, done)))
    if (done >= UNEVEN * HOSTS)
      assert.equal(visits.size, HOSTS, `number of different hosts in ${done} visits`)
  }
  const counts = [...visits.values()]
  const [least, most] = [Math.min(...counts), Math.max(...counts)]
  assert.ok(most <= UNEVEN * least, `one host was visited ${most} times, another ${least} times`)
}
