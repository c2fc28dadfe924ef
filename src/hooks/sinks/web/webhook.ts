import { createHash } from 'node:crypto'
import { assertKeys, invalidOption } from '../../../errors.js'
import type { Page } from '../../../extract/contract.js'
import type { Clock } from '../../../time.js'
import type { SinkOptions } from '../contract.js'
import { jsonOf, pageRecord } from '../record.js'
import { SINK_KEYS, text } from '../settings.js'
import { type SinkHook, sink } from '../sink.js'
import { headersOf, shownAnswer, WebClient, webAddress } from './client.js'
import { signatureOf } from './signature.js'

/** Options of `webhook()`. */
export interface WebhookOptions<Data extends object = object> extends SinkOptions<string> {
  /** Signs each request, so that your server can tell who sent it: see `verifyWebhook`. */
  readonly secret?: string | undefined
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** What is sent of a page; undefined: nothing. Default: `pageRecord`. */
  readonly record?: ((page: Page<Data>) => object | undefined) | undefined
}

/** Requests that no repetition makes acceptable. Other errors of the client, such as 401, may be repaired meanwhile. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422])
/** Digits of the name of a delivery: the same batch has the same. */
const NAME_DIGITS = 32

/**
 * Sends pages to your server, in batches: `POST { "pages": [ … ] }`. Any status from 200 to 299 means that they have
 * arrived. After 400, 413 and 422 the batch is a dead letter at once, after any other status it is sent again.
 *
 * `kumo-delivery` is the same for each attempt at a batch. A batch may still arrive in other pieces after a crash: use the
 * `id` of each page to recognize it.
 *
 * @example
 * const hook = webhook('https://app.example/pages', { secret: process.env.SECRET ?? '', batch: { pages: 50 } })
 * await new Crawler().seeds('https://example.com/').use(hook).run()
 */
export function webhook<Data extends object = object>(
  url: string | URL,
  options: WebhookOptions<Data> = {},
): SinkHook<Data> {
  assertKeys('webhook', options, [...SINK_KEYS, 'secret', 'headers', 'record'])
  const { secret, headers: given, record = pageRecord as (page: Page<Data>) => object, ...rest } = options
  if (secret !== undefined) text('webhook.secret', secret, 'a text that only you and your server know')
  if (typeof record !== 'function') throw invalidOption('webhook.record', record, 'a function of a page')
  const { base, headers } = webAddress('webhook', url)
  const sent = { ...headers, ...headersOf('webhook.headers', given) }
  let client: WebClient | undefined
  let time: Clock | undefined
  return sink<string, Data>({
    ...rest,
    name: `webhook ${new URL(base).host}${new URL(base).pathname}`,
    record(page) {
      const kept = record(page)
      return kept === undefined ? undefined : jsonOf(kept)
    },
    open({ clock }) {
      time = clock
      client = new WebClient('webhook', base, sent, clock)
    },
    async write(batch) {
      const body = `{"pages":[${batch.map(({ record }) => record).join(',')}]}`
      const name = createHash('sha256').update(body).digest('hex').slice(0, NAME_DIGITS)
      const answer = await client!.send('', {
        body,
        type: 'application/json',
        headers: {
          'kumo-delivery': name,
          ...(secret && { 'kumo-signature': signatureOf(body, secret, Math.floor(time!.now())) }),
        },
      })
      if (answer.status >= 200 && answer.status < 300) return []
      if (!REFUSALS.has(answer.status)) throw client!.refused(answer)
      const reason = shownAnswer(answer.status, answer.body)
      return batch.map((_, index) => ({ index, reason }))
    },
  })
}
