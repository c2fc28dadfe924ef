import { Delivery } from '../../engine/delivery.js'
import { EVENT_SOURCES } from '../../engine/events.js'
import type { GivenOptions } from '../../options/options.js'
import type { Clock } from '../../time.js'
import { emitterOf } from '../plan.js'

/** Delivers the events that the main thread emits when a crawl has workers. */
export function deliveryOf({ listeners, timeout }: GivenOptions, clock: Clock): Delivery {
  const events = emitterOf(listeners.filter(([event]) => EVENT_SOURCES[event] === 'main'))
  return new Delivery({ clock, hooks: [], events, reader: undefined, timeoutMs: timeout.hookMs })
}
