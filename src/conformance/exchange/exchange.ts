/** Proves an `Exchange`. */

import assert from 'node:assert/strict'
import type { Exchange } from '../../exchange/contract.js'
import type { CrawlRequest } from '../../types.js'
import { knownAs } from '../../url/known-as.js'
import { EXTRAS } from '../frontier/fixtures.js'
import { casesOf, PATIENCE_MS, pause, type SuiteOptions } from '../suite.js'
import { arrivals, collect, GRACE_MS, numbered, urlsOf } from './fixtures.js'
import { checkResting } from './resting.js'

/** Options of the exchange's suite: `create` returns the exchanges of at least three connected shards, in shard order. */
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

  check('nothing arrives if nothing was sent', async (mesh) => {
    assert.ok(mesh.length >= 3, 'the suite needs at least three shards')
    const arrived = collect(mesh)
    mesh[0]!.send(1, [])
    for (const exchange of mesh) exchange.flush()
    await pause(GRACE_MS)
    assert.deepEqual(
      arrived,
      mesh.map(() => []),
    )
  })

  check('a request arrives unchanged', async (mesh) => {
    const arrived = collect(mesh)
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
    await arrivals(arrived[1]!, 2, patienceMs)
    // A field that is undefined may be missing on the other side.
    assert.deepEqual(
      arrived[1]!.map((a) => ({ ...a, parent: a.parent })),
      [request, seed],
    )
  })

  check('what a program asks for arrives unchanged', async (mesh) => {
    const arrived = collect(mesh)
    const [plain] = numbered('asked', 1)
    const requests: CrawlRequest[] = [
      ...EXTRAS.map((extras, i) => ({ ...plain!, url: `${plain!.url}/${i}`, extras, priority: i })),
      { ...plain!, notBefore: 1_700_000_000_000.5 },
    ]
    // Between plain ones, which an exchange may write differently.
    const between = numbered('between', requests.length)
    for (const [i, request] of requests.entries()) mesh[0]!.send(1, [request, between[i]!])
    mesh[0]!.flush()
    await arrivals(arrived[1]!, 2 * requests.length, patienceMs)
    const met = arrived[1]!.filter(({ extras, notBefore }) => extras ?? notBefore)
    assert.deepEqual(
      met.map(({ url, priority, extras, notBefore }) => ({ url, priority, extras, notBefore })),
      requests.map(({ url, priority, extras, notBefore }) => ({ url, priority, extras, notBefore })),
    )
  })

  check('requests of one URL with different methods or bodies all arrive', async (mesh) => {
    const arrived = collect(mesh)
    const [get] = numbered('form', 1)
    const all: CrawlRequest[] = [
      get!,
      { ...get!, extras: { method: 'POST', body: 'q=1' } },
      { ...get!, extras: { method: 'POST', body: 'q=2' } },
      { ...get!, extras: { method: 'DELETE' } },
    ]
    mesh[0]!.send(1, all)
    mesh[0]!.flush()
    await arrivals(arrived[1]!, all.length, patienceMs)
    assert.deepEqual(arrived[1]!.map(knownAs), all.map(knownAs))
  })

  check('each request arrives exactly once, in order, at the shard it was sent to', async (mesh) => {
    const arrived = collect(mesh)
    const toOne = numbered('one', MANY)
    const toTwo = numbered('two', MANY)
    for (let from = 0, size = 1; from < MANY; from += size, size = (size * 3) % 1009) {
      mesh[0]!.send(1, toOne.slice(from, from + size))
      mesh[0]!.send(2, toTwo.slice(from, from + size))
    }
    mesh[0]!.flush()
    await arrivals(arrived[1]!, MANY, patienceMs)
    await arrivals(arrived[2]!, MANY, patienceMs)
    assert.deepEqual(urlsOf(arrived[0]!), [])
    assert.deepEqual(urlsOf(arrived[1]!), urlsOf(toOne))
    assert.deepEqual(urlsOf(arrived[2]!), urlsOf(toTwo))
  })

  check('a single request arrives after a flush', async (mesh) => {
    const arrived = collect(mesh)
    mesh[0]!.send(1, numbered('single', 1))
    mesh[0]!.flush()
    await arrivals(arrived[1]!, 1, patienceMs)
    assert.equal(arrived[1]!.length, 1)
  })

  check('what two shards send to a third arrives in the order of each sender', async (mesh) => {
    const arrived = collect(mesh)
    const fromOne = numbered('one', 500)
    const fromTwo = numbered('two', 500)
    for (let i = 0; i < 500; i += 10) {
      mesh[1]!.send(0, fromOne.slice(i, i + 10))
      mesh[2]!.send(0, fromTwo.slice(i, i + 10))
    }
    mesh[1]!.flush()
    mesh[2]!.flush()
    await arrivals(arrived[0]!, 1000, patienceMs)
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

  check('requests that arrive before the handler is set are delivered once it is', async (mesh) => {
    const requests = numbered('early', 20)
    mesh[0]!.send(1, requests.slice(0, 10))
    mesh[0]!.flush()
    await pause(GRACE_MS)
    mesh[0]!.send(1, requests.slice(10))
    mesh[0]!.flush()
    const arrived = collect(mesh)
    await arrivals(arrived[1]!, 20, patienceMs)
    assert.deepEqual(urlsOf(arrived[1]!), urlsOf(requests))
  })

  check('a handler may send to another shard', async (mesh) => {
    const arrived: CrawlRequest[] = []
    const requests = numbered('relay', 2500)
    let relayed = 0
    mesh[1]!.receive((batch) => {
      relayed += batch.length
      // An exchange that sends a batch to the wrong shard should fail this case instead of looping for ever.
      if (relayed > requests.length) return
      mesh[1]!.send(2, batch)
      mesh[1]!.flush()
    })
    mesh[2]!.receive((batch) => {
      for (const request of batch) arrived.push(request)
    })
    mesh[0]!.send(1, requests)
    mesh[0]!.flush()
    await arrivals(arrived, requests.length, patienceMs)
    assert.deepEqual(urlsOf(arrived), urlsOf(requests))
  })

  checkResting(check, patienceMs)

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
      // An exchange may refuse to send to a shard that has closed.
    }
    await pause(GRACE_MS)
    assert.equal(afterClose, 0)
  })

  check('closing twice is allowed', async (mesh) => {
    for (const exchange of mesh) {
      await exchange.close()
      await exchange.close()
    }
  })
}
