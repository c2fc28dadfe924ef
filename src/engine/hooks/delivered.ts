/** How the delivery of a page ends. */

import type { SharedDocument } from '../../frontier/contract.js'
import type { FailureCode } from '../../types.js'

/** What user code did wrong with a page. */
export interface DeliveryProblem {
  readonly code: FailureCode
  readonly message: string
  readonly cause: unknown
}

/** The reader left, or the crawl was aborted, before the page was delivered: it must be delivered later. */
export const UNDELIVERED = Symbol('undelivered')

/** Undefined: all is well. */
export type Delivered = DeliveryProblem | typeof UNDELIVERED | undefined

/** A hook of another process gets the page, once its settlement is stored. */
export class LeftToOthers {
  readonly document: SharedDocument

  constructor(document: SharedDocument) {
    this.document = document
  }
}

/** How a page leaves the queue of a hook. */
export type QueueAnswer = Delivered | LeftToOthers
