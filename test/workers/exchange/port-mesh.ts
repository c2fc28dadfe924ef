/** Shards of one thread, joined by real ports, and whoever compares their reports. */

import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { systemClock } from '../../../src/time.js'
import { PortExchange, type PortExchangeOptions } from '../../../src/workers/exchange/port-exchange.js'
import { type IdleReport, TerminationDetector } from '../../../src/workers/exchange/termination-detector.js'

export interface PortMesh {
  readonly shards: PortExchange[]
  readonly quiet: TerminationDetector
  /** By shard, all its reports. */
  readonly reports: IdleReport[][]
}

/** Options for all shards, or for each. */
type Options = Partial<PortExchangeOptions> | ((shard: number) => Partial<PortExchangeOptions>)

/** A mesh in which all are connected. Reports take their time, as those of a thread would. */
export function portMesh(count: number, options: Options = {}): PortMesh {
  const quiet = new TerminationDetector(count)
  const reports: IdleReport[][] = Array.from({ length: count }, () => [])
  const clock = systemClock()
  const shards = Array.from({ length: count }, (_, self) => {
    const report = (told: IdleReport) => {
      reports[self]!.push(told)
      setImmediate(() => {
        quiet.report(self, told)
        if (quiet.isTerminated) for (const shard of shards) shard.finish()
      })
    }
    const own = typeof options === 'function' ? options(self) : options
    return new PortExchange({ self, shards: count, clock, report, ...own })
  })
  for (let a = 0; a < count; a++) {
    for (let b = a + 1; b < count; b++) {
      const [portA, portB] = ports()
      shards[a]!.connect(b, portA)
      shards[b]!.connect(a, portB)
    }
  }
  return { shards, quiet, reports }
}

export function ports(): [MessagePort, MessagePort] {
  const { port1, port2 } = new MessageChannel()
  return [port1, port2]
}
