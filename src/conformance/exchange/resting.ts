/** The cases of the exchange's suite about its end: that all rest is told to everybody, and never too early. */

import assert from 'node:assert/strict'
import type { Exchange } from '../../exchange/contract.js'
import { eventually, pause, type RegisterCase } from '../suite.js'
import { GRACE_MS, listen, numbered } from './fixtures.js'

interface Context {
  readonly check: RegisterCase<readonly Exchange[]>
  readonly patienceMs: number
  calm(mesh: readonly Exchange[]): Promise<void>
}

export function checkResting({ check, calm, patienceMs }: Context): void {
  const toldAll = (told: readonly { over: boolean }[]) =>
    eventually('every shard is told that all rest', () => told.every(({ over }) => over), patienceMs)

  check('shards that all rest are roused and told so', async (mesh) => {
    listen(mesh)
    mesh[0]!.send(1, numbered('last', 10))
    const told = mesh.map(restless)
    for (const shard of told) shard.ask()
    mesh[1]!.receive(() => told[1]!.ask())
    await toldAll(told)
    await calm(mesh)
  })

  check('nobody is told that all rest before all do', async (mesh) => {
    listen(mesh)
    const told = mesh.map(restless)
    for (const shard of told.slice(1)) shard.ask()
    await pause(GRACE_MS)
    for (const shard of told.slice(1)) shard.ask()
    assert.ok(!told.some(({ over }) => over))
    told[0]!.ask()
    await toldAll(told)
  })

  check('nobody is told that all rest while a handler runs', async (mesh) => {
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const told = mesh.map(restless)
    listen(mesh)
    let called = false
    mesh[1]!.receive(async () => {
      called = true
      await gate
      told[1]!.ask()
    })
    mesh[0]!.send(1, numbered('slow', 3))
    for (const shard of told) shard.ask()
    await eventually('the handler is called', () => called, patienceMs)
    for (const shard of told) shard.ask()
    await pause(GRACE_MS)
    assert.ok(!told.some(({ over }) => over))
    open()
    await toldAll(told)
  })

  check('a shard at which something has arrived rests only when it says so again', async (mesh) => {
    const arrived = listen(mesh)
    const told = mesh.map(restless)
    for (const shard of told.slice(1)) shard.ask()
    mesh[0]!.send(1, numbered('work', 3))
    told[0]!.ask()
    await eventually('the requests arrive', () => arrived[1]!.length === 3, patienceMs)
    await calm(mesh)
    told[0]!.ask()
    told[2]!.ask()
    await pause(GRACE_MS)
    assert.ok(!told.some(({ over }) => over), 'shard 1 has been given work, and has not said that it is done')
    told[1]!.ask()
    await toldAll(told)
  })

  check(
    'work that goes round from shard to shard is done before anybody is told that all rest',
    async (mesh) => {
      const told = mesh.map(restless)
      let rounds = 20 * mesh.length
      for (const [shard, exchange] of mesh.entries()) {
        exchange.receive(async (requests) => {
          await pause(rounds % 3)
          if (rounds-- > 0)
            exchange.send((shard + 1) % mesh.length, numbered(`round-${rounds}`, requests.length))
          told[shard]!.ask()
        })
      }
      mesh[0]!.send(1, numbered('first', 2))
      let early = false
      for (const shard of told) {
        shard.onOver = () => {
          early ||= rounds > 0
        }
        shard.ask()
      }
      await toldAll(told)
      await eventually('the work comes to its end', () => rounds <= 0, patienceMs)
      await calm(mesh)
      assert.equal(early, false, 'somebody was told so while work was going round')
    },
  )
}

/** A shard that has nothing to do, and asks whether all rest when it is told to or roused; then not at once, as a loop. */
function restless(exchange: Exchange) {
  const shard = {
    over: false,
    onOver: () => {},
    ask() {
      if (shard.over || !exchange.rest()) return
      shard.over = true
      shard.onOver()
    },
  }
  exchange.watch(() => queueMicrotask(() => shard.ask()))
  return shard
}
