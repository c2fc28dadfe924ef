/** Proves an `Exchange`. */

import assert from 'node:assert/strict'
import type { Exchange } from '../../exchange/contract.js'
import type { CrawlRequest } from '../../types.js'
import { casesOf, eventually, PATIENCE_MS, pause, type SuiteOptions } from '../suite.js'
import { GRACE_MS, listen, numbered, urlsOf } from './fixtures.js'
import { checkResting } from './resting.js'

/** What the exchange's suite is given: `create` returns a mesh of at least three shards, in the shards' order. */
export interface ExchangeSuiteOptions extends SuiteOptions<readonly Exchange[]> {
  /** How long a case waits for a delivery before it fails, in ms. Default 5000. */
  patienceMs?: number
}

/** More than most exchanges put into one batch. */
const MANY = 5000

/** Registers the cases that every exchange must pass. */
export function exchangeSuite(options: ExchangeSuiteOptions): void {
  const patienceMs = options.patienceMs ?? PATIENCE_MS
  const check = casesOf(options, async (mesh) => {
    for (const exchange of mesh) await exchange.close()
  })
  const calm = (mesh: readonly Exchange[]) =>
    eventually('inTransit falls to zero', () => mesh.every(({ inTransit }) => inTransit === 0), patienceMs)

  check('a mesh that was sent nothing is calm', async (mesh) => {
    assert.ok(mesh.length >= 3, 'the suite needs at least three shards')
    const arrived = listen(mesh)
    mesh[0]!.send(1, [])
    for (const exchange of mesh) exchange.flush()
    await pause(GRACE_MS)
    assert.deepEqual(
      mesh.map(({ inTransit }) => inTransit),
      mesh.map(() => 0),
    )
    assert.deepEqual(
      arrived,
      mesh.map(() => []),
    )
  })

  check('a request arrives whole', async (mesh) => {
    const arrived = listen(mesh)
    const request: CrawlRequest = {
      url: 'https://example.com/a?q=%C3%A9&r=1#!/x',
      host: 'example.com:8443',
      depth: 3,
      priority: -1.5,
      attempt: 2,
      redirects: 1,
      parent: 'https://example.com/',
    }
    const seed: CrawlRequest = { ...request, url: 'https://example.org/', depth: 0, parent: undefined }
    mesh[0]!.send(1, [request, seed])
    mesh[0]!.flush()
    await calm(mesh)
    // Compared loosely in one thing: a field that is undefined may be missing on the other side.
    assert.deepEqual(
      arrived[1]!.map((a) => ({ ...a, parent: a.parent })),
      [request, seed],
    )
  })

  check('each request arrives once, in order, where it was sent', async (mesh) => {
    const arrived = listen(mesh)
    const toOne = numbered('one', MANY)
    const toTwo = numbered('two', MANY)
    for (let from = 0, size = 1; from < MANY; from += size, size = (size * 3) % 1009) {
      mesh[0]!.send(1, toOne.slice(from, from + size))
      mesh[0]!.send(2, toTwo.slice(from, from + size))
    }
    mesh[0]!.flush()
    await calm(mesh)
    assert.deepEqual(urlsOf(arrived[0]!), [])
    assert.deepEqual(urlsOf(arrived[1]!), urlsOf(toOne))
    assert.deepEqual(urlsOf(arrived[2]!), urlsOf(toTwo))
  })

  check('one request alone arrives after a flush', async (mesh) => {
    const arrived = listen(mesh)
    mesh[0]!.send(1, numbered('lone', 1))
    mesh[0]!.flush()
    await eventually('the request arrives', () => arrived[1]!.length === 1, patienceMs)
    await calm(mesh)
  })

  check('senders do not mix up or hold up each other', async (mesh) => {
    const arrived = listen(mesh)
    const fromOne = numbered('one', 500)
    const fromTwo = numbered('two', 500)
    for (let i = 0; i < 500; i += 10) {
      mesh[1]!.send(0, fromOne.slice(i, i + 10))
      mesh[2]!.send(0, fromTwo.slice(i, i + 10))
    }
    assert.deepEqual([mesh[1]!.inTransit, mesh[2]!.inTransit], [500, 500])
    mesh[1]!.flush()
    mesh[2]!.flush()
    await calm(mesh)
    const urls = urlsOf(arrived[0]!)
    assert.deepEqual(
      urls.filter((url) => url.includes('/one/')),
      urlsOf(fromOne),
    )
    assert.deepEqual(
      urls.filter((url) => url.includes('/two/')),
      urlsOf(fromTwo),
    )
    assert.equal(urls.length, 1000)
  })

  check('requests count as in transit at once, for the sender alone', async (mesh) => {
    listen(mesh)
    mesh[0]!.send(1, numbered('a', 3))
    assert.equal(mesh[0]!.inTransit, 3)
    mesh[0]!.send(2, numbered('b', 4))
    assert.equal(mesh[0]!.inTransit, 7)
    assert.equal(mesh[1]!.inTransit, 0)
    mesh[0]!.flush()
    await calm(mesh)
  })

  check('requests count as in transit while the handler runs', async (mesh) => {
    const counted: number[] = []
    mesh[1]!.receive((requests) => void counted.push(mesh[0]!.inTransit - requests.length))
    mesh[0]!.send(1, numbered('a', 3))
    mesh[0]!.flush()
    await calm(mesh)
    assert.ok(counted.length > 0)
    for (const left of counted) assert.ok(left >= 0, 'a batch was taken off the count before it was taken in')
  })

  check('requests count as in transit until the promise of the handler settles', async (mesh) => {
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    let called = false
    mesh[1]!.receive(() => {
      called = true
      return gate
    })
    mesh[0]!.send(1, numbered('a', 3))
    mesh[0]!.flush()
    await eventually('the handler is called', () => called, patienceMs)
    await pause(GRACE_MS)
    assert.equal(mesh[0]!.inTransit, 3)
    open()
    await calm(mesh)
  })

  check('what arrived before there was a handler is delivered to it', async (mesh) => {
    const requests = numbered('early', 20)
    mesh[0]!.send(1, requests.slice(0, 10))
    mesh[0]!.flush()
    await pause(GRACE_MS)
    assert.equal(mesh[0]!.inTransit, 10, 'nobody has taken these in yet')
    mesh[0]!.send(1, requests.slice(10))
    mesh[0]!.flush()
    const arrived = listen(mesh)
    await calm(mesh)
    assert.deepEqual(urlsOf(arrived[1]!), urlsOf(requests))
  })

  check('a handler may send on', async (mesh) => {
    const arrived: CrawlRequest[] = []
    const requests = numbered('relay', 2500)
    let relayed = 0
    mesh[1]!.receive((batch) => {
      relayed += batch.length
      // An exchange that sends a batch to the wrong shard should fail this case, not run in a circle for ever.
      if (relayed > requests.length) return
      mesh[1]!.send(2, batch)
      mesh[1]!.flush()
    })
    mesh[2]!.receive((batch) => {
      for (const request of batch) arrived.push(request)
    })
    mesh[0]!.send(1, requests)
    mesh[0]!.flush()
    await calm(mesh)
    assert.deepEqual(urlsOf(arrived), urlsOf(requests), 'all is calm, but not all has arrived')
  })

  checkResting({ check, calm, patienceMs })

  check('nothing is delivered after close', async (mesh) => {
    let afterClose = 0
    let closed = false
    mesh[1]!.receive((requests) => {
      if (closed) afterClose += requests.length
    })
    mesh[0]!.send(1, numbered('a', 10))
    mesh[0]!.flush()
    await mesh[1]!.close()
    closed = true
    try {
      mesh[0]!.send(1, numbered('b', 10))
      mesh[0]!.flush()
    } catch {
      // An exchange may refuse to send to a shard that is gone.
    }
    await pause(GRACE_MS)
    assert.equal(afterClose, 0)
  })

  check('closing twice does nothing', async (mesh) => {
    for (const exchange of mesh) {
      await exchange.close()
      await exchange.close()
    }
  })
}
