import { Delivery } from '../../engine/delivery.js'
import type { GivenOptions } from '../../options/options.js'
import type { Clock } from '../../time.js'
import { emitterOf } from '../plan.js'

/** Events that the program's thread puts together; those of single URLs come from workers. */
const TOLD_HERE: ReadonlySet<string> = new Set(['progress', 'feasibility', 'store', 'worker', 'end'])

/** Where a workerRun tells how it fares. */
export function deliveryOf({ listeners, timeout }: GivenOptions, clock: Clock): Delivery {
  const events = emitterOf(listeners.filter(([event]) => TOLD_HERE.has(event)))
  return new Delivery({ clock, hooks: [], events, reader: undefined, timeoutMs: timeout.hookMs })
}
