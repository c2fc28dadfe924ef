/** Adds listeners in the way that its argument names, right or wrong. discarded-listeners.test.ts reads its warnings. */

import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Crawler } from '../../../src/index.js'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

const base = new Crawler()
  .seeds('http://one.example/')
  .robots(false)
  .fetcher(() => ({
    ok: true,
    status: 200,
    headers: new Map([['content-type', 'text/html']]),
    body: Buffer.from('x'),
    wireBytes: 1,
    skippedBody: false,
  }))
const listener = () => {}

/** The garbage collector may take a few turns to report what is gone. */
async function collect(): Promise<void> {
  for (let round = 0; round < 5; round++) {
    gc()
    await sleep(5)
  }
}

const WAYS: Record<string, () => Promise<void>> = {
  async discarded() {
    base.on('page', listener)
    base.on('end', listener)
    await base.run()
    await base.run()
  },
  async 'discarded and started as a handle'() {
    base.on('page', listener)
    await base.start().done
  },
  async 'discarded and iterated'() {
    base.on('page', listener)
    for await (const _ of base) await sleep(0)
  },
  async 'collected while the process goes on'() {
    base.on('page', listener)
    await base.run()
    await collect()
    console.error('goes on')
  },
  async 'collected before the run'() {
    base.on('page', listener)
    await collect()
    await base.run()
    console.error('goes on')
  },
  async chained() {
    await base.on('page', listener).depth(2).on('end', listener).run()
  },
  async 'branch first'() {
    const logged = base.on('page', listener)
    await logged.run()
    await base.run()
  },
  async 'branch later'() {
    const logged = base.on('page', listener)
    await base.run()
    await sleep(50)
    await logged.depth(1).run()
  },
  async 'branch later, through garbage collections'() {
    const logged = base.on('page', listener).depth(1)
    await collect()
    await base.run()
    await collect()
    await logged.run()
    await collect()
  },
  async 'on the handle'() {
    const run = base.start()
    run.on('page', listener)
    await run.done
  },
  async 'never started'() {
    base.on('page', listener)
  },
}

await WAYS[process.argv[2]!]!()
