import { createHmac, timingSafeEqual } from 'node:crypto'
import { invalidOption } from '../../../errors.js'

const TOLERANCE_MS = 5 * 60_000
const HEADER = /^t=(\d{1,16}),v1=([0-9a-f]{64})$/

/** The value of the header `kumo-signature`: when the request was sent, and the HMAC-SHA256 of that and the body. */
export function signatureOf(body: string, secret: string, sentAt: number): string {
  return `t=${sentAt},v1=${hmac(body, secret, String(sentAt))}`
}

/**
 * Whether a request to your webhook comes from `webhook()` with the same secret, and was sent within the last five
 * minutes. `body` must be the body as it arrived, not parsed and written again.
 *
 * @example
 * if (!verifyWebhook(body, request.headers['kumo-signature'], secret, Date.now())) response.writeHead(401).end()
 */
export function verifyWebhook(
  body: string | Uint8Array,
  signature: string | readonly string[] | undefined,
  secret: string,
  now: number,
): boolean {
  if (typeof now !== 'number' || !Number.isFinite(now))
    throw invalidOption('verifyWebhook: now', now, 'the time in ms since the epoch, Date.now()')
  const [, sentAt, given] = HEADER.exec(typeof signature === 'string' ? signature : '') ?? []
  if (sentAt === undefined || Math.abs(now - Number(sentAt)) > TOLERANCE_MS) return false
  return timingSafeEqual(Buffer.from(given!, 'hex'), Buffer.from(hmac(body, secret, sentAt), 'hex'))
}

function hmac(body: string | Uint8Array, secret: string, sentAt: string): string {
  return createHmac('sha256', secret).update(`${sentAt}.`).update(body).digest('hex')
}
