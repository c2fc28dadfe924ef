/** A thread that reads and writes a shared database without a pause, until it dies in the way it was told to. */

import { parentPort, workerData } from 'node:worker_threads'
import { Level } from 'level'

const { path, writer, death } = workerData
const database = new Level(path, { multithreading: true })
await database.open()
let written = 0

async function write() {
  for (;;) {
    const batch = database.batch()
    for (let i = 0; i < 500; i++) batch.put(`${writer} ${written++}`, 'x'.repeat(100))
    await batch.write()
    parentPort.postMessage({ written })
    // Not before there is something to be found afterwards.
    if (written === 500) setTimeout(DEATHS[death], 50)
  }
}

async function read() {
  for (;;) {
    const iterator = database.iterator({ limit: 1000 })
    await iterator.all()
    await iterator.close()
    await database.getMany(['a', 'b'])
  }
}

const DEATHS = {
  exit: () => process.exit(3),
  error: () => {
    throw new Error('the end')
  },
  memory() {
    const hoard = []
    for (;;) hoard.push(new Array(1000).fill(hoard.length + 0.5))
  },
  // Somebody else ends it, now that it is in no call of the database.
  spinning() {
    parentPort.postMessage({ isSpinning: true })
    for (;;);
  },
}

// One that is open when the thread ends.
await database.iterator().next()
void write()
void read()
void read()
