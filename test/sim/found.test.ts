import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/adapters.js'
import { Crawler } from '../../src/index.js'
import { simulatedWeb, virtualClock } from '../../src/sim/index.js'
import { slowFrontier } from './slow-store.js'

/** Defects that seeds have brought to light, each in its smallest form. */

describe('found by simulation', () => {
  it('a limit that is reached while a visit goes on does not spin until that is over', async () => {
    const clock = virtualClock()
    const web = simulatedWeb({ seed: 1, hosts: 2, clock })
    const crawler = new Crawler()
      .seeds(web.seeds)
      .clock(clock)
      .random(seededRandom(1))
      .fetcher(web)
      .robots(false)
    const summary = await clock.run(
      crawler
        .limit({ bytes: 1 })
        .on('page', () => clock.sleep(5000))
        .run(),
    )
    expect(summary).toMatchObject({ reason: 'limit', pages: 2, inFlight: 0 })
  })

  it.for([
    ['stop', 'stopped'],
    ['pause', 'done'],
  ] as const)('what a slow store leases after %s is not visited', async ([how, reason]) => {
    const clock = virtualClock()
    const web = simulatedWeb({ seed: 1, hosts: 3, pagesPerHost: 1, clock })
    const crawler = new Crawler()
      .seeds(web.seeds)
      .clock(clock)
      .random(seededRandom(1))
      .fetcher(web)
      .robots(false)
      .frontier((context) => slowFrontier(context, () => clock.sleep(100)))
    const run = crawler.start()
    const start = clock.now()
    // Seeds are added by 100 and leased by 200.
    clock.wakeAt(start + 150, () => run[how]())
    clock.wakeAt(start + 1000, () => run.resume())
    const summary = await clock.run(run.done)
    expect(summary.reason).toBe(reason)
    expect(web.log.filter(({ startedAt }) => startedAt < start + 1000)).toEqual([])
    expect([web.log.length, summary.pending]).toEqual(how === 'stop' ? [0, 3] : [3, 0])
  })
})
