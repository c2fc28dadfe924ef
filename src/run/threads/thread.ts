/** The program of a worker thread. */

import { systemClock } from '../../time.js'
import type { ToThread } from '../../workers/messages.js'
import { inside } from '../../workers/thread.js'
import { Shard } from './shard.js'

const { data, port } = inside()
const shard = new Shard(
  data,
  { post: (message, transfer = []) => port.postMessage(message, transfer), close: () => port.close() },
  systemClock(data.origin),
)
port.on('message', (message: ToThread) => shard.hear(message))
shard.open().catch((error) => {
  shard.fail(error)
  port.close()
})
