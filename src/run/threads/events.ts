import { EventEmitter } from 'eventemitter3'
import { Delivery } from '../../engine/delivery.js'
import type { CrawlEvents } from '../../engine/events.js'
import type { GivenOptions } from '../../options/options.js'
import type { Clock } from '../../time.js'

/** Events that the program's thread puts together; those of single URLs come from workers. */
const TOLD_HERE: ReadonlySet<string> = new Set(['progress', 'feasibility', 'store', 'worker', 'end'])

/** Where a workerRun tells how it fares. */
export function deliveryOf({ listeners, timeout }: GivenOptions, clock: Clock): Delivery {
  const events = new EventEmitter<CrawlEvents>()
  for (const [event, listener] of listeners) {
    if (TOLD_HERE.has(event)) events.on(event, listener as (...args: unknown[]) => void)
  }
  return new Delivery({ clock, hooks: [], events, reader: undefined, timeoutMs: timeout.hookMs })
}
