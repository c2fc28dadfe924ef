/** What the indexing hooks of different workers tell each other. */

import type { PageCost } from './backlog.js'

export type PeerMessage =
  /** The first message of a worker: it has nothing to do, and nobody waits for what its predecessor handed over. */
  | { readonly kind: 'hello' }
  /** Documents with these ids are about to be somewhere else. Answered by `dropped`, once the receiver has none of them. */
  | { readonly kind: 'drop'; readonly number: number; readonly ids: readonly string[] }
  | { readonly kind: 'dropped'; readonly number: number }
  /** How long the sender will be busy with pages that do not come from the receiver, in ms. */
  | { readonly kind: 'load'; readonly ms: number }
  /** A page to index. Answered by `done`. */
  | { readonly kind: 'page'; readonly number: number; readonly page: unknown }
  | {
      readonly kind: 'done'
      readonly number: number
      readonly cost: PageCost | undefined
      readonly error: string | undefined
    }
  /** Everything that was answered by `done` must become durable. Answered by `committed`. */
  | { readonly kind: 'commit'; readonly number: number }
  | { readonly kind: 'committed'; readonly number: number; readonly error: string | undefined }
  /** The sender has committed everything, or failed to, and ends. */
  | { readonly kind: 'closed'; readonly error: string | undefined }
