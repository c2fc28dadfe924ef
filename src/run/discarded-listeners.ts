/**
 * Finds the mistake `crawler.on('page', listener); crawler.run()`: a crawler is a value, so the listener belongs to the
 * crawler that `on()` returned, and that one is never started.
 *
 * At the time of `run()` it may still be started later, as a branch. So the warning waits until that is impossible: the
 * crawler with the listener is garbage, or the process is about to exit. A warning is therefore never wrong about what
 * happened, and it may come late.
 */

import { emitWarning } from '../engine/delivery.js'
import type { Listener } from '../options/options.js'

/** One call of `on()`. It must not refer to the listener, or that would never be garbage. */
interface OnCall {
  readonly event: string
  /** The calls on the same crawler whose results have not been started. */
  readonly siblings: Set<OnCall>
  /** No crawler has the listener any more. */
  isCollected: boolean
  /** The crawler that `on()` was called on has been started. */
  isBypassed: boolean
}

const callOf = new WeakMap<Listener, OnCall>()
const callsOn = new WeakMap<object, Set<OnCall>>()
/** Calls on crawlers that were started while nothing that `on()` returned was. */
const suspects = new Set<OnCall>()
let isWatchingExit = false

const collected = new FinalizationRegistry<OnCall>((call) => {
  call.isCollected = true
  if (call.isBypassed) warn(call)
  else if (hasCollectedSibling(call)) forget(call)
})

/** `on()` was called on a crawler. The crawler that it returned, and all that are derived from that, have the listener. */
export function noteListener(crawler: object, listener: Listener): void {
  let siblings = callsOn.get(crawler)
  if (siblings === undefined) callsOn.set(crawler, (siblings = new Set()))
  const call = { event: listener[0], siblings, isCollected: false, isBypassed: false }
  siblings.add(call)
  callOf.set(listener, call)
  collected.register(listener, call)
}

/** A crawler was started, with these listeners. */
export function noteStart(crawler: object, listeners: readonly Listener[]): void {
  for (const listener of listeners) {
    const call = callOf.get(listener)
    if (call !== undefined) forget(call)
  }
  for (const call of callsOn.get(crawler) ?? []) {
    call.isBypassed = true
    if (call.isCollected) warn(call)
    else suspect(call)
  }
}

/** One collected call is enough for a warning; a program that keeps making branches must not fill the memory. */
function hasCollectedSibling(call: OnCall): boolean {
  for (const each of call.siblings) if (each !== call && each.isCollected) return true
  return false
}

function suspect(call: OnCall): void {
  suspects.add(call)
  if (isWatchingExit) return
  isWatchingExit = true
  process.once('beforeExit', () => {
    isWatchingExit = false
    for (const each of suspects) warn(each)
  })
}

/** Once for each crawler. */
function warn(call: OnCall): void {
  if (!call.siblings.has(call)) return
  for (const each of call.siblings) forget(each)
  emitWarning(
    `The listener of .on('${call.event}') was never called: .on() returns a new crawler and leaves the old one as it ` +
      `is, and only the old one was started. Start the crawler that .on() returned, or add the listener to the run: ` +
      `crawler.start().on('${call.event}', …).`,
  )
}

function forget(call: OnCall): void {
  call.siblings.delete(call)
  suspects.delete(call)
}
