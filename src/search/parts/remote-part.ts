/** An index that another machine serves, as a part of a merged search. */

import { KumoError, messageOf } from '../../errors.js'
import { type Clock, systemClock } from '../../time.js'
import type { StoredDocument } from '../contract.js'
import type { CountedWord } from '../query/similar.js'
import type {
  Answer,
  CollectAsked,
  DocumentAsked,
  HitsAsked,
  IndexPart,
  PartCollected,
  PartDescription,
  PartHits,
  PartTerm,
  TermsAsked,
} from './contract.js'

/** Changes when the questions do. */
export const PART_PROTOCOL = 1
/** The last segment of the path at which a search endpoint answers parts of searches. */
export const PART_PATH = 'part.json'

export class RemotePart implements IndexPart {
  /** Without a password. */
  readonly name: string
  readonly #endpoint: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #timeoutMs: number
  readonly #clock: Clock = systemClock()

  constructor(url: URL, timeoutMs: number) {
    const { username, password } = url
    const base = new URL(url)
    base.username = ''
    base.password = ''
    base.search = ''
    base.hash = ''
    if (!base.pathname.endsWith('/')) base.pathname += '/'
    this.name = base.href
    this.#endpoint = new URL(PART_PATH, base).href
    const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    this.#headers = {
      'content-type': 'application/json',
      ...(user === ':' ? {} : { authorization: `Basic ${Buffer.from(user).toString('base64')}` }),
    }
    this.#timeoutMs = timeoutMs
  }

  describe(): Promise<PartDescription> {
    return this.#ask('describe', {})
  }

  terms(asked: TermsAsked): Promise<Answer<PartTerm[][]>> {
    return this.#ask('terms', asked)
  }

  collect(asked: CollectAsked): Promise<Answer<PartCollected>> {
    return this.#ask('collect', asked)
  }

  async hits(asked: HitsAsked): Promise<Answer<PartHits>> {
    const answer: Answer<PartHits> = await this.#ask('hits', asked)
    if (answer === 'changed') return answer
    const { hits, urls } = answer.value
    // JSON leaves out what is undefined.
    const whole = hits.map(({ id, url, anchor, title, headings, language, date, snippet, fields }) => {
      return { id, url, anchor, title, headings, language, date, snippet, fields }
    })
    return { value: { hits: whole, urls } }
  }

  words(asked: DocumentAsked): Promise<Answer<CountedWord[] | null>> {
    return this.#ask('words', asked)
  }

  async document(asked: DocumentAsked): Promise<Answer<StoredDocument | null>> {
    const answer: Answer<StoredDocument | null> = await this.#ask('document', asked)
    if (answer === 'changed' || answer.value === null) return answer
    const { id, url, title, language, date, sections, fields } = answer.value
    const whole = sections.map(({ anchor, ...rest }) => ({ ...rest, anchor }))
    return { value: { id, url, title, language, date, sections: whole, fields } }
  }

  async #ask<Value>(method: keyof IndexPart, asked: object): Promise<Value> {
    const stop = new AbortController()
    const timer = this.#clock.wakeAt(this.#clock.now() + this.#timeoutMs, () => stop.abort())
    try {
      const response = await fetch(this.#endpoint, {
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify({ protocol: PART_PROTOCOL, method, asked }),
        signal: stop.signal,
        redirect: 'manual',
      })
      const text = await response.text()
      if (response.status !== 200) throw new Error(refusal(response.status, text))
      return (JSON.parse(text) as { answer: Value }).answer
    } catch (error) {
      const why = stop.signal.aborted ? `no answer within ${this.#timeoutMs} ms` : reasonOf(error)
      throw new KumoError('KUMO_INDEX_UNREACHABLE', `${this.name}: ${why}`, { cause: error })
    } finally {
      timer.cancel()
    }
  }
}

function refusal(status: number, text: string): string {
  let code = ''
  try {
    code = String((JSON.parse(text) as { error?: unknown }).error ?? '')
  } catch {
    // A page of another server.
  }
  if (code !== '') return `it answered with status ${status}: ${code}`
  return `it answered with status ${status}; pass the address of 'kumo serve' or of a searchHandler() of one folder`
}

/** `fetch()` only says that it failed; its cause says why. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown }
  return cause === undefined ? messageOf(error) : `${messageOf(error)} (${messageOf(cause)})`
}
