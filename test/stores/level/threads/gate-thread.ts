/** A thread that stays in a call of the database until it is allowed to go on. */

import { parentPort, workerData } from 'node:worker_threads'
import { Gate } from '../../../../src/stores/level/threads/gate.js'

const { memory, mayGoOn } = workerData as { memory: SharedArrayBuffer; mayGoOn: Int32Array }
const gate = new Gate(memory, 1)
const tell = async (what: string) => parentPort!.postMessage(what)

void gate.call(async () => {
  await tell('in a call')
})
void gate.call(() => {
  const told = tell('stays in a call')
  Atomics.wait(mayGoOn, 0, 0)
  return told
})
void gate.call(() => tell('calls again'))
void tell('done')
// It does not end by itself.
setInterval(() => {}, 60_000)
