import { EventEmitter } from 'eventemitter3'
import { expect, it } from 'vitest'
import { Delivery } from '../../../src/engine/delivery.js'
import { Meters } from '../../../src/engine/stats/meters.js'
import { Tally } from '../../../src/engine/stats/tally.js'
import { FetchStep } from '../../../src/engine/visit/fetch-step.js'
import { systemClock } from '../../../src/time.js'
import { makeFetcher, rawServer, reply, requestFor } from '../../fetch/support.js'

const TIMEOUT_MS = 2000

/** Longer than the time-out: whoever believes a timer that comes late gives the request up. */
function blockLoop(): void {
  const end = performance.now() + TIMEOUT_MS * 1.5
  while (performance.now() < end);
}

const WHOLE = reply('page')

function fetchingFor(timeoutMs: number, mayVisit?: () => boolean): FetchStep {
  const clock = systemClock()
  const delivery = new Delivery({
    clock,
    hooks: [],
    events: new EventEmitter(),
    reader: undefined,
    timeoutMs,
  })
  return new FetchStep(
    { fetcher: makeFetcher(), clock, delivery, ...(mayVisit && { membership: { mayVisit } }) },
    timeoutMs,
    new Meters(clock, 1),
    new Tally(),
  )
}

it.each<[string, () => Parameters<typeof rawServer>[0]]>([
  [
    'has arrived',
    () =>
      ({ socket }) => {
        socket.write(WHOLE)
        blockLoop()
      },
  ],
  [
    'has arrived in part',
    () =>
      ({ socket }) => {
        socket.write(WHOLE.subarray(0, 30))
        blockLoop()
        setTimeout(() => socket.write(WHOLE.subarray(30)), 50)
      },
  ],
  [
    'is not even begun',
    () =>
      ({ socket }) => {
        blockLoop()
        setTimeout(() => socket.write(WHOLE), 50)
      },
  ],
])('an answer that %s when the loop is blocked is no time-out', async (_, answering) => {
  const server = await rawServer(answering())
  const fetching = fetchingFor(TIMEOUT_MS)
  const outcome = await fetching.fetch(requestFor(server.url()), { wants: () => true, cutsBody: false })
  fetching.close()
  expect(outcome).toMatchObject({ ok: true, status: 200 })
  expect(server.requests.length).toBe(1)
})

it('no answer at all is one', async () => {
  const server = await rawServer(() => {})
  const fetching = fetchingFor(100)
  const outcome = await fetching.fetch(requestFor(server.url()), { wants: () => true, cutsBody: false })
  fetching.close()
  expect(outcome).toMatchObject({ ok: false, code: 'timeout' })
})

it('is aborted, and pending still, if the lease runs out before it is sent', async () => {
  const server = await rawServer(({ socket }) => socket.write(reply('page')))
  let isLeased = true
  const fetching = fetchingFor(TIMEOUT_MS, () => isLeased)
  const settings = { wants: () => true, cutsBody: false }
  const request = requestFor(server.url())
  const sent = fetching.fetch(request, settings)
  // The connection is not open yet.
  isLeased = false
  expect(await sent).toMatchObject({ ok: false, code: 'aborted' })
  expect(fetching.wasAborted(request)).toBe(true)
  expect(server.requests).toEqual([])
  isLeased = true
  expect(await fetching.fetch(requestFor(server.url()), settings)).toMatchObject({ ok: true, status: 200 })
  fetching.close()
})
