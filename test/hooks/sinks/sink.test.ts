import { once } from 'node:events'
import type { KumoError } from 'kumo'
import { virtualClock } from 'kumo/sim'
import { type DeadLetter, type Sink, type SinkItem, sink } from 'kumo/sinks'
import { describe, expect, test } from 'vitest'
import { newState, pageNumber, writeAll } from './support.js'

/** A sink that remembers its batches, and fails while `down` says so. */
function recorder(more: Partial<Sink<string>> = {}) {
  const batches: string[][] = []
  const tries: number[] = []
  const clock = virtualClock()
  const control = { down: false, batches, tries, clock }
  const hook = sink<string>({
    name: 'recorder',
    record: ({ url }) => url,
    write: (batch: readonly SinkItem<string>[]) => {
      tries.push(clock.now())
      if (control.down) throw new Error('it is down')
      batches.push(batch.map(({ record }) => new URL(record).pathname.slice(1)))
    },
    clock,
    ...more,
  })
  return { ...control, control, hook }
}

const pages = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => pageNumber(from + i))

describe('batches', () => {
  test('are written when they are full, and the rest when the crawl commits', async () => {
    const { hook, batches } = recorder({ batch: { pages: 3 } })
    await writeAll(hook, pages(0, 7))
    expect(batches).toEqual([['0', '1', '2'], ['3', '4', '5'], ['6']])
    expect(hook.stats()).toEqual({ written: 7, batches: 3, retries: 0, dead: 0, repeated: 0, waiting: 0 })
  })

  test('are full by bytes too', async () => {
    const { hook, batches } = recorder({ batch: { bytes: 50 }, record: () => 'https://example.com/xxxxxx' })
    await writeAll(hook, pages(0, 4))
    expect(batches.map(({ length }) => length)).toEqual([2, 2])
  })

  test('are written when their first page is old enough', async () => {
    const { hook, batches, clock } = recorder({ batch: { age: '2s' } })
    await hook.open?.({ state: newState() })
    await hook.page?.(pageNumber(1))
    await clock.advance(1999)
    expect(batches).toEqual([])
    await clock.advance(1)
    expect(batches).toEqual([['1']])
    await hook.close?.()
    expect(clock.timers).toBe(0)
  })

  test('a slow sink makes pages wait, and only as many as two batches are kept', async () => {
    let release = () => {}
    const { hook } = recorder({
      batch: { pages: 2 },
      write: () => new Promise<void>((resolve) => void (release = resolve)),
    })
    await hook.open?.({ state: newState() })
    const answers = pages(0, 6).map((page) => hook.page?.(page))
    // Two are being written and three wait; the sixth has no room.
    expect(answers.map((answer) => answer instanceof Promise)).toEqual([
      false,
      false,
      false,
      false,
      false,
      true,
    ])
    release()
    await answers[5]
    expect(hook.stats().written).toBe(2)
  })

  test('a page that the record leaves out is not written', async () => {
    const { hook, batches } = recorder({ record: (page) => (page.url.endsWith('1') ? undefined : page.url) })
    await writeAll(hook, pages(0, 3))
    expect(batches).toEqual([['0', '2']])
  })

  test('the default record has the fields of a page', async () => {
    const items: SinkItem[] = []
    await writeAll(sink({ name: 'plain', write: (batch) => void items.push(...batch) }), [
      pageNumber(1, { data: { price: 3 } }),
    ])
    expect(items).toEqual([
      {
        id: pageNumber(1).id,
        url: 'https://example.com/1',
        change: 'new',
        record: {
          id: pageNumber(1).id,
          url: 'https://example.com/1',
          status: 200,
          change: 'new',
          fetchedAt: '2023-11-14T22:13:20.000Z',
          mediaType: 'text/html',
          title: 'Page 1',
          depth: 0,
          parent: null,
          data: { price: 3 },
        },
      },
    ])
  })
})

describe('a write that fails', () => {
  test('is repeated after pauses that double, up to the longest', async () => {
    const { hook, control, tries, clock, batches } = recorder({ retry: { first: '1s', most: '5s' } })
    await hook.open?.({ state: newState() })
    control.down = true
    await hook.page?.(pageNumber(1))
    const flushing = hook.flush?.()
    await clock.advance(12_500)
    control.down = false
    await clock.run(Promise.resolve(flushing))
    const pauses = tries.map((at) => (at - tries[0]!) / 1000)
    expect(pauses).toEqual([0, 1, 3, 7, 12, 17])
    expect(batches).toEqual([['1']])
    expect(hook.stats()).toMatchObject({ written: 1, retries: 5, dead: 0 })
  })

  test('too often is a dead letter, which the next run writes first', async () => {
    const state = newState()
    const letters: DeadLetter<string>[] = []
    const first = recorder({ retry: { attempts: 2 }, dead: { report: (letter) => letters.push(letter) } })
    await first.hook.open?.({ state })
    first.control.down = true
    await first.hook.page?.(pageNumber(1))
    await first.clock.run(Promise.resolve(first.hook.flush?.()))
    expect(letters).toEqual([
      {
        id: pageNumber(1).id,
        url: 'https://example.com/1',
        change: 'new',
        record: 'https://example.com/1',
        reason: 'it is down',
      },
    ])
    expect(first.hook.stats()).toMatchObject({ written: 0, dead: 1 })
    const warned = once(process, 'warning') as Promise<[Error]>
    await first.hook.close?.()
    const [{ name, message }] = await warned
    expect([name, message]).toEqual([
      'KumoWarning',
      "the sink 'recorder' has 1 page that could not be written (it is down.) The next run writes them again if the crawl " +
        'has a durable store such as level(); otherwise they are lost',
    ])

    const second = recorder()
    await writeAll(second.hook, [pageNumber(2)], state)
    expect(second.batches).toEqual([['1'], ['2']])
    expect(second.hook.stats().dead).toBe(0)
    const third = recorder()
    await writeAll(third.hook, [], state)
    expect(third.batches).toEqual([])
  })

  test('dead letters are written when the sink has recovered, unless a newer page was', async () => {
    const { hook, control, clock, batches } = recorder({ retry: { attempts: 1, most: '30s' } })
    await hook.open?.({ state: newState() })
    control.down = true
    await hook.page?.(pageNumber(1))
    await hook.page?.(pageNumber(2))
    await clock.run(Promise.resolve(hook.flush?.()))
    expect(hook.stats().dead).toBe(2)
    control.down = false
    await hook.page?.(pageNumber(2, { change: 'changed' }))
    await clock.run(Promise.resolve(hook.flush?.()))
    expect(batches).toEqual([['2'], ['1']])
    expect(hook.stats()).toMatchObject({ written: 2, dead: 0 })
  })

  test('with no room for more dead letters stops the crawl, and names what to do', async () => {
    const { hook, control, clock } = recorder({ retry: { attempts: 1 }, dead: { most: 1 } })
    await hook.open?.({ state: newState() })
    control.down = true
    await hook.page?.(pageNumber(1))
    await hook.page?.(pageNumber(2))
    const failed = await clock.run(Promise.resolve(hook.flush?.())).then(
      () => undefined,
      (error: KumoError) => error,
    )
    expect(failed?.code).toBe('KUMO_SINK_FAILED')
    expect(failed?.message).toBe(
      "the sink 'recorder' could not write https://example.com/2 (it is down.) There is no room for more dead letters: " +
        "1 are in the crawl's store. Repair what the sink writes to and run the program again",
    )
    expect(() => hook.page?.(pageNumber(3))).toThrow('no room for more dead letters')
  })

  test('items that are rejected become dead letters at once; the others count as written', async () => {
    const state = newState()
    const reasons: string[] = []
    const { hook } = recorder({
      write: () => [{ index: 1, reason: 'too odd' }],
      dead: { report: ({ url, reason }) => reasons.push(`${url} ${reason}`) },
    })
    await writeAll(hook, pages(0, 3), state)
    expect(reasons).toEqual(['https://example.com/1 too odd'])
    expect(hook.stats()).toMatchObject({ written: 2, dead: 1 })
    const next = recorder()
    await writeAll(next.hook, [], state)
    expect(next.batches).toEqual([['1']])
  })

  test('an error may say how long to wait', async () => {
    const { hook, tries, clock } = recorder()
    const busy = Object.assign(new Error('busy'), { retryAfterMs: 7000 })
    const failing = sink<string>({
      name: 'busy',
      record: ({ url }) => url,
      clock,
      write: () => {
        if (tries.push(clock.now()) === 1) throw busy
      },
    })
    await failing.open?.({ state: newState() })
    await failing.page?.(pageNumber(1))
    await clock.run(Promise.resolve(failing.flush?.()))
    expect(tries[1]! - tries[0]!).toBe(7000)
    expect(hook.stats().written).toBe(0)
  })

  test('closing ends its pause', async () => {
    const { hook, control, clock } = recorder()
    await hook.open?.({ state: newState() })
    control.down = true
    await hook.page?.(pageNumber(1))
    const flushing = hook.flush?.()
    await clock.advance(0)
    await hook.close?.()
    await flushing
    expect(clock.timers).toBe(0)
  })
})

describe('misuse', () => {
  test.each<[object, string]>([
    [{ name: '', write: () => {} }, "sink.name: got ''"],
    [{ name: 'x' }, 'sink.write: got undefined; allowed: a function'],
    [{ name: 'x', write: () => {}, record: 3 }, 'sink.record: got 3; allowed: a function'],
    [
      { name: 'x', write: () => {}, batch: { size: 3 } },
      "x.batch: got the key 'size'; allowed: pages, bytes, age",
    ],
    [
      { name: 'x', write: () => {}, batch: { pages: 0 } },
      'x.batch.pages: got 0; allowed: a whole number, 1 or more',
    ],
    [{ name: 'x', write: () => {}, batch: { age: 'soon' } }, "x.batch.age: got 'soon'; allowed: a duration"],
    [{ name: 'x', write: () => {}, retry: { attempts: 0.5 } }, 'x.retry.attempts: got 0.5'],
    [{ name: 'x', write: () => {}, dead: { report: 1 } }, 'x.dead.report: got 1; allowed: a function'],
  ])('%j', (given, message) => {
    expect(() => sink(given as never)).toThrow(message)
  })

  test('one sink in two crawls at once', async () => {
    const { hook } = recorder()
    await hook.open?.({ state: newState() })
    await expect(hook.open?.({ state: newState() })).rejects.toThrow('already used by a crawl that runs')
    await hook.close?.()
    await hook.close?.()
    await writeAll(hook, [])
    expect(() => hook.page?.(pageNumber(1))).toThrow("the sink 'recorder' is closed")
  })
})
