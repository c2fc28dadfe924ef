/**
 * undici's two handler interfaces, in front of one listener. The current interface works on undici 7 and 8. undici 7
 * wraps it in an adapter that parses every header of every response, so with undici 7 requests use the older interface,
 * which it calls directly: see docs/decisions/0020.
 */

import type { Dispatcher } from 'undici'
import { require } from '../../../require.js'

/** What happens to a request, in this order. Exactly one of `onEnd` and `onError` is called, as the last event. */
export interface ResponseListener {
  /** The connection is open, and the request is about to be written. */
  onRequestStart(): void
  /** The first bytes of a response have arrived. */
  onFirstBytes(): void
  /**
   * @param status Below 200 for an interim response; the final one follows.
   * @param rawHeaders Name, value, name, value, … The listener may keep the buffers, but not the array.
   * @param resume Continues after `onData` has returned false.
   */
  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void): void
  /** False: nothing more is read until `resume` is called. */
  onData(chunk: Buffer): boolean
  onEnd(): void
  onError(error: Error): void
}

/** A dispatch handler that passes everything on to its listener. */
export interface ResponseHandler extends Dispatcher.DispatchHandler {
  readonly listener: ResponseListener
}

/** Wraps a listener in the handler that costs least with the installed undici. */
export function handlerFactory(): (listener: ResponseListener) => ResponseHandler {
  return isUndici7() ? (listener) => new LegacyHandler(listener) : (listener) => new CurrentHandler(listener)
}

/** If the version is unknown, the answer is no: the current interface works with both. */
function isUndici7(): boolean {
  try {
    const { version } = require('undici/package.json') as { version: string }
    return version.startsWith('7.')
  } catch {
    return false
  }
}

/** For undici 7 and later. */
export class CurrentHandler implements ResponseHandler {
  constructor(readonly listener: ResponseListener) {}

  onRequestStart(): void {
    this.listener.onRequestStart()
  }

  onResponseStarted(): void {
    this.listener.onFirstBytes()
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    // Over HTTP/1, the only protocol that undici speaks here, they are the parser's buffers.
    this.listener.onHeaders(status, controller.rawHeaders as Buffer[], () => controller.resume())
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.listener.onData(chunk)) controller.pause()
  }

  onResponseEnd(): void {
    this.listener.onEnd()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.listener.onError(error)
  }
}

/** For undici 7 only. It tells the interfaces apart by `onRequestStart`, so a handler cannot implement both. */
export class LegacyHandler implements ResponseHandler {
  constructor(readonly listener: ResponseListener) {}

  onConnect(): void {
    this.listener.onRequestStart()
  }

  onResponseStarted(): void {
    this.listener.onFirstBytes()
  }

  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void): boolean {
    this.listener.onHeaders(status, rawHeaders, resume)
    return true
  }

  onData(chunk: Buffer): boolean {
    return this.listener.onData(chunk)
  }

  onComplete(): void {
    this.listener.onEnd()
  }

  onError(error: Error): void {
    this.listener.onError(error)
  }
}
