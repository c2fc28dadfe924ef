import { EventEmitter } from 'eventemitter3'
import { type CrawlEvents, EVENT_NAMES } from '../engine/events.js'
import { invalidOption } from '../errors.js'
import type { Listener } from '../options/options.js'
import type { PageStream } from './page-stream.js'

type EventName = keyof CrawlEvents
type AnyListener = (...args: never[]) => unknown
type OnceWrapper = AnyListener & { readonly original?: AnyListener }

/** Where pages and events leave a run. */
export interface RunOutputs {
  readonly events: RunEvents
  readonly stream: PageStream
}

/** The listeners of one run: those of the crawler first, then those that its handle adds and removes. */
export class RunEvents {
  readonly emitter = new EventEmitter<CrawlEvents>()
  /** Called when listeners come or go: workers emit only the events that have some. */
  onChange: () => void = () => {}

  constructor(listeners: readonly Listener[] = []) {
    for (const [event, listener] of listeners) this.#add(event, listener as AnyListener)
  }

  on(event: EventName, listener: unknown): void {
    this.#add(event, checkedListener('on', event, listener))
    this.onChange()
  }

  /**
   * The wrapper removes itself. eventemitter3's own `once` would not do: the engine calls listeners one by one, to wait
   * for each, and never calls `emit`.
   */
  once(event: EventName, listener: unknown): void {
    const original = checkedListener('once', event, listener)
    const wrapper = (...args: never[]) => {
      this.off(event, wrapper)
      return original(...args)
    }
    this.#add(event, Object.assign(wrapper, { original }))
    this.onChange()
  }

  /** Removes the listener wherever it was added for this event, with `on` or `once`. */
  off(event: EventName, listener: unknown): void {
    const added = this.emitter.listeners(event) as OnceWrapper[]
    for (const each of added) {
      if (each === listener || each.original === listener) this.emitter.off(event, each as never)
    }
    this.onChange()
  }

  has(event: EventName): boolean {
    return this.emitter.listenerCount(event) > 0
  }

  #add(event: EventName, listener: AnyListener): void {
    this.emitter.on(event, listener as never)
  }
}

/** @throws KumoError `KUMO_INVALID_OPTION` for an event that does not exist and for what is no function. */
export function checkedListener(method: 'on' | 'once', event: EventName, listener: unknown): AnyListener {
  if (!EVENT_NAMES.includes(event)) throw invalidOption(`${method}: event`, event, EVENT_NAMES.join(', '))
  if (typeof listener !== 'function') throw invalidOption(`${method}('${event}')`, listener, 'a function')
  return listener as AnyListener
}
