/** The cases of the exchange's suite about the end of a crawl: `rest` becomes true on every shard, and never too early. */

import assert from 'node:assert/strict'
import type { Exchange } from '../../exchange/contract.js'
import { eventually, pause, type RegisterCase } from '../suite.js'
import { arrivals, collect, GRACE_MS, numbered } from './fixtures.js'

export function checkResting(check: RegisterCase<readonly Exchange[]>, patienceMs: number): void {
  const allOver = (shards: readonly { isOver: boolean }[]) =>
    eventually('rest() becomes true on every shard', () => shards.every(({ isOver }) => isOver), patienceMs)

  check('rest becomes true on every shard once all are idle', async (mesh) => {
    const arrived = collect(mesh)
    mesh[0]!.send(1, numbered('last', 10))
    const shards = mesh.map(idleShard)
    for (const shard of shards) shard.rest()
    let received = 0
    mesh[1]!.receive((requests) => {
      received += requests.length
      shards[1]!.rest()
    })
    await allOver(shards)
    assert.equal(received + arrived[1]!.length, 10, 'rest() was true before all requests had arrived')
  })

  check('rest is false as long as one shard is busy', async (mesh) => {
    collect(mesh)
    const shards = mesh.map(idleShard)
    for (const shard of shards.slice(1)) shard.rest()
    await pause(GRACE_MS)
    for (const shard of shards.slice(1)) shard.rest()
    assert.ok(!shards.some(({ isOver }) => isOver))
    shards[0]!.rest()
    await allOver(shards)
  })

  check('rest is false while the promise of a handler is pending', async (mesh) => {
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const shards = mesh.map(idleShard)
    collect(mesh)
    let called = false
    mesh[1]!.receive(async () => {
      called = true
      await gate
      shards[1]!.rest()
    })
    mesh[0]!.send(1, numbered('slow', 3))
    for (const shard of shards) shard.rest()
    await eventually('the handler is called', () => called, patienceMs)
    for (const shard of shards) shard.rest()
    await pause(GRACE_MS)
    assert.ok(!shards.some(({ isOver }) => isOver))
    open()
    await allOver(shards)
  })

  check('a shard that received requests is busy until it calls rest again', async (mesh) => {
    const arrived = collect(mesh)
    const shards = mesh.map(idleShard)
    for (const shard of shards.slice(1)) shard.rest()
    mesh[0]!.send(1, numbered('work', 3))
    shards[0]!.rest()
    await arrivals(arrived[1]!, 3, patienceMs)
    shards[0]!.rest()
    shards[2]!.rest()
    await pause(GRACE_MS)
    assert.ok(!shards.some(({ isOver }) => isOver), 'shard 1 received work and has not called rest() since')
    shards[1]!.rest()
    await allOver(shards)
  })

  check('rest is false while requests go round from shard to shard', async (mesh) => {
    const shards = mesh.map(idleShard)
    let rounds = 20 * mesh.length
    for (const [shard, exchange] of mesh.entries()) {
      exchange.receive(async (requests) => {
        await pause(rounds % 3)
        if (rounds-- > 0)
          exchange.send((shard + 1) % mesh.length, numbered(`round-${rounds}`, requests.length))
        shards[shard]!.rest()
      })
    }
    mesh[0]!.send(1, numbered('first', 2))
    let isEarly = false
    for (const shard of shards) {
      shard.onOver = () => {
        isEarly ||= rounds > 0
      }
      shard.rest()
    }
    await allOver(shards)
    await eventually('the last round is done', () => rounds <= 0, patienceMs)
    await pause(GRACE_MS)
    assert.equal(isEarly, false, 'rest() was true while requests were going round')
  })
}

/** A shard without work of its own. It calls `rest` when told to and, as an engine's loop does, a moment after a wake. */
function idleShard(exchange: Exchange) {
  const shard = {
    isOver: false,
    onOver: () => {},
    rest() {
      if (shard.isOver || !exchange.rest()) return
      shard.isOver = true
      shard.onOver()
    },
  }
  exchange.watch(() => queueMicrotask(() => shard.rest()))
  return shard
}
