/** What came of a fetch as plain data, for another shard to learn from. */

import type { Outcome } from '../../fetch/contract.js'
import type { PlainAnswer } from '../../types.js'

export function toPlain(outcome: Outcome): PlainAnswer {
  if (!outcome.ok) return { ok: false, code: outcome.code, message: outcome.message }
  const { status, headers, body, skippedBody, truncated = false } = outcome
  return {
    ok: true,
    status,
    headers: [...headers.entries()],
    body: Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1'),
    skippedBody,
    truncated,
  }
}

export function fromPlain(answer: PlainAnswer): Outcome {
  if (!answer.ok) return answer
  const { status, skippedBody, truncated } = answer
  const headers = new Map(answer.headers)
  const body = Buffer.from(answer.body, 'latin1')
  return {
    ok: true,
    status,
    headers: { get: (name) => headers.get(name), entries: () => headers },
    body,
    wireBytes: body.length,
    skippedBody,
    truncated,
  }
}
