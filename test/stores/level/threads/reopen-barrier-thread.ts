/** A thread that stays in a call of the database until it is allowed to go on. */

import { parentPort, workerData } from 'node:worker_threads'
import { ReopenBarrier } from '../../../../src/stores/level/threads/reopen-barrier.js'

const { memory, mayGoOn } = workerData as { memory: SharedArrayBuffer; mayGoOn: Int32Array }
const barrier = new ReopenBarrier(memory, 1)
const tell = async (what: string) => parentPort!.postMessage(what)

void barrier.call(async () => {
  await tell('in a call')
})
void barrier.call(() => {
  const told = tell('stays in a call')
  Atomics.wait(mayGoOn, 0, 0)
  return told
})
void barrier.call(() => tell('calls again'))
void tell('done')
// It does not end by itself.
setInterval(() => {}, 60_000)
