/**
 * Reads one response as the parser delivers it: keeps the body if it is wanted, reads a small unwanted one to its end
 * so that the connection can be used again, and stops at the limits.
 */

import type { FetchContext, FetchedResponse, ResponseHeaders, WireExchange } from '../contract.js'
import { BodyBlocks } from './body-blocks.js'
import { type ExchangePhase, type FailureKind, failureKind, withoutAnswer } from './failures.js'
import { announcedLength, mediaTypeOf, RawHeaders } from './headers.js'
import { MAX_INTERIM_RESPONSES } from './response-head.js'
import type { ResponseListener } from './undici/handlers.js'

/** Receives the result of a response. Exactly one of `answered` and `failed` is called, once. */
export interface ResponseOwner {
  /** The connection is open, and the request is about to be written. */
  sent(): void
  /** Everything wanted has been read. `clean`: the response has ended, so the connection can be reused. */
  answered(response: ResponseReader, clean: boolean): void
  failed(response: ResponseReader, failure: FailureKind, cause: unknown): void
  /** More of the body has arrived. True: nothing more is to be read until the owner calls `resume`. */
  pauses?(bytes: number, resume: () => void): boolean
}

/** An unwanted body up to this size is read to its end, which is cheaper than a new connection for both sides. */
const MAX_DRAINED_BYTES = 64 * 1024

/** A response without Content-Type is most likely a page; its bytes are sniffed later. */
const ASSUMED_MEDIA_TYPE = 'text/html'

const NO_CONTENT = 204

const NO_BYTES = new Uint8Array(0)

export class ResponseReader implements ResponseListener {
  phase: ExchangePhase = 'connecting'
  status = 0
  headers: RawHeaders | undefined
  /** Bytes of body read so far. */
  wireBytes = 0
  /** The request succeeded, but its media type is not wanted. */
  skippedBody = false

  /** The body was longer than what was read of it. */
  isCut = false

  readonly #context: Pick<FetchContext, 'wants' | 'cutsBody'>
  readonly #maxBodyBytes: number
  readonly #owner: ResponseOwner
  readonly #isHead: boolean
  #keeping = false
  #interim = 0
  #ended = false
  #announced = 0
  /** Most bodies arrive as one chunk, which is not copied. */
  #onlyChunk: Buffer | undefined
  #blocks: BodyBlocks | undefined
  #resume: () => void = () => {}

  /**
   * @param maxBodyBytes The limit of a wanted body, in bytes on the wire.
   * @param isHead The headers describe a body that is not sent.
   */
  constructor(
    context: Pick<FetchContext, 'wants' | 'cutsBody'>,
    maxBodyBytes: number,
    owner: ResponseOwner,
    isHead = false,
  ) {
    this.#context = context
    this.#maxBodyBytes = maxBodyBytes
    this.#owner = owner
    this.#isHead = isHead
  }

  onRequestStart(): void {
    this.phase = 'waiting'
    this.#owner.sent()
  }

  onFirstBytes(): void {
    if (this.phase === 'waiting') this.phase = 'headers'
  }

  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void = () => {}): void {
    if (this.#ended) return
    this.#resume = resume
    if (status < 200) {
      if (++this.#interim > MAX_INTERIM_RESPONSES) {
        this.#fail({ code: 'bad-response', what: 'sent interim responses only' })
      }
      return
    }
    // Moved out of undici's array, which V8 may have allocated in the old generation: docs/decisions/0008.
    const headers = new RawHeaders(rawHeaders.splice(0))
    // A 204 has no body, whatever its headers say (RFC 9112, 6.3).
    const hasBody = status < 300 && status !== NO_CONTENT && !this.#isHead
    // Called before any state changes: if the caller's function throws, the request fails with that error.
    this.#keeping = hasBody && this.#isWanted(headers)
    this.phase = 'body'
    this.status = status
    this.headers = headers
    this.skippedBody = hasBody && !this.#keeping
    const length = this.#isHead ? 0 : (announcedLength(headers.get('content-length')) ?? 0)
    this.#announced = length
    if (this.#keeping && length > this.#maxBodyBytes && !this.#context.cutsBody) this.#failTooLarge()
    else if (!this.#keeping && length > MAX_DRAINED_BYTES) this.#answer(false)
  }

  onData(chunk: Buffer): boolean {
    if (this.#ended) return true
    this.wireBytes += chunk.length
    this.#read(chunk)
    return this.#ended || this.#owner.pauses?.(chunk.length, this.#resume) !== true
  }

  #read(chunk: Buffer): void {
    if (!this.#keeping) {
      if (this.wireBytes > MAX_DRAINED_BYTES) this.#answer(false)
    } else if (this.wireBytes > this.#maxBodyBytes) {
      if (this.#context.cutsBody) this.#cut(chunk)
      else this.#failTooLarge()
    } else {
      this.#keep(chunk)
    }
  }

  onEnd(): void {
    this.#answer(true)
  }

  onError(error: Error): void {
    if (this.#settlesWithoutBody()) this.#answer(false)
    else this.#fail(failureKind(error, this.phase), withoutAnswer(error))
  }

  /** Stops reading. If nothing wanted is missing, the response still counts as complete. */
  abort(): void {
    if (this.#settlesWithoutBody()) this.#answer(false)
    else this.#fail({ code: 'aborted', what: 'was aborted' })
  }

  /** The kept body, still encoded. */
  takeBody(): Uint8Array {
    const body = this.#blocks?.join() ?? this.#onlyChunk ?? NO_BYTES
    this.#forgetBody()
    return body
  }

  #keep(chunk: Buffer): void {
    if (this.#blocks !== undefined) this.#blocks.add(chunk)
    else if (this.#onlyChunk === undefined) this.#onlyChunk = chunk
    else {
      this.#blocks = new BodyBlocks(Math.max(this.#announced, this.#onlyChunk.length + chunk.length))
      this.#blocks.add(this.#onlyChunk)
      this.#onlyChunk = undefined
      this.#blocks.add(chunk)
    }
  }

  #forgetBody(): void {
    this.#onlyChunk = this.#blocks = undefined
  }

  /** The body ends at the limit, in the middle of this chunk. */
  #cut(chunk: Buffer): void {
    const before = this.wireBytes - chunk.length
    this.#keep(chunk.subarray(0, this.#maxBodyBytes - before))
    this.wireBytes = this.#maxBodyBytes
    this.isCut = true
    this.#answer(false)
  }

  #isWanted(headers: RawHeaders): boolean {
    const mediaType = mediaTypeOf(headers.get('content-type')) || ASSUMED_MEDIA_TYPE
    return this.#context.wants(mediaType)
  }

  #settlesWithoutBody(): boolean {
    return this.status !== 0 && !this.#keeping
  }

  #answer(clean: boolean): void {
    if (this.#ended) return
    this.#ended = true
    this.#owner.answered(this, clean)
  }

  #failTooLarge(): void {
    const what = `sent a body of more than ${this.#maxBodyBytes} bytes`
    this.#fail({ code: 'body-too-large', what })
  }

  #fail(failure: FailureKind, cause?: unknown): void {
    if (this.#ended) return
    this.#ended = true
    this.#forgetBody()
    this.#owner.failed(this, failure, cause)
  }
}

/** A class and not a literal: see docs/decisions/0008. */
export class Answer implements FetchedResponse {
  readonly ok = true

  constructor(
    readonly status: number,
    readonly headers: ResponseHeaders,
    readonly body: Uint8Array,
    readonly wireBytes: number,
    readonly skippedBody: boolean,
    readonly truncated: boolean,
    readonly resent: number,
    readonly exchange: WireExchange | undefined,
  ) {}
}
