/** Answers what a merged search on another machine asks of this index. Anybody may ask, so questions are bounded. */

import { isPlainObject, KumoError } from '../../errors.js'
import type { IndexPart } from '../parts/contract.js'
import { PART_PROTOCOL } from '../parts/remote-part.js'
import { failed, json } from './json.js'

/** A plan with the 20,000 terms that one character can begin. */
const MOST_BYTES = 4 * 1024 * 1024
/** Each may read the whole dictionary. */
const MOST_LOOKUPS = 1000
/** The most that `search()` asks for, with spare ones. */
const MOST_CANDIDATES = 310_000

const METHODS = ['describe', 'terms', 'collect', 'hits', 'words', 'document'] as const
type Method = (typeof METHODS)[number]

export async function answerPart(part: IndexPart, request: Request): Promise<Response> {
  if (request.method !== 'POST') return json({ error: 'only POST is allowed' }, 405)
  const body = await bodyOf(request)
  if (body === undefined) return json({ error: 'the question is too long' }, 413)
  const question = questionOf(body)
  if (question === undefined) return json({ error: 'not a question of this version of Kumo' }, 400)
  const { method, asked } = question
  try {
    return json({ answer: await (part[method] as (asked: unknown) => Promise<unknown>)(asked) })
  } catch (error) {
    // Whoever asks made up the question: what it breaks is not the index.
    if (!(error instanceof KumoError) || error.code === 'KUMO_INVALID_OPTION')
      return json({ error: 'not a question of this version of Kumo' }, 400)
    return failed(error)
  }
}

async function bodyOf(request: Request): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > MOST_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function questionOf(
  body: string,
): { readonly method: Method; readonly asked: Readonly<Record<string, unknown>> } | undefined {
  let question: unknown
  try {
    question = JSON.parse(body)
  } catch {
    return undefined
  }
  if (typeof question !== 'object' || question === null) return undefined
  const { protocol, method, asked } = question as Record<string, unknown>
  if (protocol !== PART_PROTOCOL || !METHODS.includes(method as Method)) return undefined
  if (typeof asked !== 'object' || asked === null || !isPlainObject(asked)) return undefined
  const { lookups = [], most = 0, places = [], copies = [] } = asked as Record<string, unknown>
  const isSmall = (list: unknown, limit: number) => Array.isArray(list) && list.length <= limit
  if (!isSmall(lookups, MOST_LOOKUPS) || !isSmall(places, MOST_CANDIDATES)) return undefined
  if (!isSmall(copies, MOST_CANDIDATES) || typeof most !== 'number' || !(most <= MOST_CANDIDATES))
    return undefined
  return { method: method as Method, asked: asked as Record<string, unknown> }
}
