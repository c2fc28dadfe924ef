/** The program of a worker thread. */

import { systemClock } from '../../time.js'
import type { ToWorker } from '../../workers/messages.js'
import { insideWorker } from '../../workers/thread.js'
import { WorkerShard } from './shard.js'

const { data, port } = insideWorker()
const shard = new WorkerShard(
  data,
  { post: (message, transfer = []) => port.postMessage(message, transfer), close: () => port.close() },
  systemClock(data.origin),
)
port.on('message', (message: ToWorker) => shard.receive(message))
shard.open().catch((error) => {
  shard.fail(error)
  port.close()
})
