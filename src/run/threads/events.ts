import { EventEmitter } from 'eventemitter3'
import { Delivery } from '../../engine/delivery.js'
import { type CrawlEvents, EVENT_SOURCES } from '../../engine/events.js'
import type { GivenOptions } from '../../options/options.js'
import type { Clock } from '../../time.js'

/** Where a workerRun tells how it fares. */
export function deliveryOf({ listeners, timeout }: GivenOptions, clock: Clock): Delivery {
  const events = new EventEmitter<CrawlEvents>()
  for (const [event, listener] of listeners) {
    if (EVENT_SOURCES[event] === 'main') events.on(event, listener as (...args: unknown[]) => void)
  }
  return new Delivery({ clock, hooks: [], events, reader: undefined, timeoutMs: timeout.hookMs })
}
