/** The session of one origin: when to log in, what to send next, and what a response means. */

import { messageOf } from '../../errors.js'
import type { BareDocument, Page } from '../../extract/contract.js'
import type { FetchedResponse, Outcome } from '../../fetch/contract.js'
import { LATE } from '../../time.js'
import type { CrawlRequest, MaybePromise } from '../../types.js'
import { hostOf, originOf } from '../../url/canonicalize.js'
import type {
  FormValues,
  OriginSession,
  SessionConditions,
  SessionParts,
  SessionSettings,
  SessionVerdict,
} from './contract.js'
import { filledIn, type LoginForm, loginForm } from './form.js'
import { fulfils, targetOf, withoutQuery } from './rule.js'
import { isFormValues } from './session.js'

/** Fewer than the number of wrong passwords after which sites lock an account. */
const TOO_MANY_REQUESTS = 429
const MAX_TRIES = 3
/** How long pages fail without another try. Only crawls that revisit their pages run so long. */
const COOLDOWN_MS = 3_600_000
const MAX_REDIRECTS = 10
/** Shorter values are too common to be found and hidden in messages. */
const MIN_HIDDEN_LENGTH = 3

/** What the next request is for: the form, its answer, or the page after a login. */
interface Step {
  readonly kind: 'form' | 'send' | 'check'
  readonly request: CrawlRequest
  readonly redirects: number
}

/** What is stored of a session. */
interface SessionRecord {
  /** When the last login ended. */
  readonly at: number
  /** Whether it worked. */
  readonly open: boolean
  /** Failed logins in a row. */
  readonly tries: number
  /** The page with the form, if the login page redirects to it. */
  readonly form?: string | undefined
}

export class Login implements OriginSession {
  readonly #settings: SessionSettings
  readonly #parts: SessionParts
  readonly #origin: string
  #step: Step | undefined = undefined
  /** Whether the record of the session was read. */
  #isRestored = false
  #open = false
  /** When the last login ended, and when the last one that worked did. */
  #endedAt = Number.NEGATIVE_INFINITY
  #openedAt = Number.NEGATIVE_INFINITY
  /** The session is over: the next login starts then. */
  #againAt = Number.POSITIVE_INFINITY
  #tries = 0
  #problem: { readonly message: string; readonly cause?: unknown } | undefined = undefined
  /** The page with the form, which is another than the login page if that redirects. */
  #formPage: string
  /** Values that no message may show. */
  #secrets: readonly string[] = []
  /** Fields of the user's that the form does not have. */
  #unknown = ''

  constructor(settings: SessionSettings, parts: SessionParts) {
    this.#settings = settings
    this.#parts = parts
    this.#origin = originOf(settings.login)
    this.#formPage = settings.login
  }

  isOpen(now: number): boolean {
    return this.#open && now < this.#againAt
  }

  next(now: number): MaybePromise<SessionVerdict> {
    if (this.#isRestored) return this.#decide(now)
    const restoring = this.#restore()
    return restoring instanceof Promise ? restoring.then(() => this.#decide(now)) : this.#decide(now)
  }

  #decide(now: number): SessionVerdict {
    if (this.isOpen(now)) return 'open'
    this.#open = false
    this.#againAt = Number.POSITIVE_INFINITY
    if (this.#step !== undefined) return { fetch: this.#step.request }
    if (this.#tries >= MAX_TRIES && now < this.#endedAt + COOLDOWN_MS) {
      const { message, cause } = this.#problem ?? { message: 'the login failed' }
      return { failed: { code: 'session-failed', message: `${this.#origin}: ${message}`, cause } }
    }
    const at = this.#endedAt + this.#settings.intervalMs
    if (now < at) return { retryAt: at }
    this.#step = this.#get('form', this.#settings.login, 0)
    return { fetch: this.#step.request }
  }

  async learn(outcome: Outcome, now: number): Promise<void> {
    const step = this.#step
    if (step === undefined) return
    this.#step = undefined
    try {
      await this.#advance(step, outcome, now)
    } catch (error) {
      this.#fail(`the login failed: ${messageOf(error)}`, now, error)
    }
    if (this.#step === undefined) this.#secrets = []
  }

  over(
    request: CrawlRequest,
    response: FetchedResponse,
    startedAt: number,
    now: number,
  ): MaybePromise<number | undefined> {
    if (this.#isLoginPage(request.url)) return undefined
    const again = (isOver: boolean) => (isOver ? this.#end(startedAt, now) : undefined)
    const { over } = this.#settings
    if (over === undefined) return again(this.isRefused(request, response))
    const answer = fulfils(over, response, this.#lazyPage(request, response), this.#parts.waits)
    return answer instanceof Promise ? answer.then(again) : again(answer)
  }

  isRefused(request: CrawlRequest, response: FetchedResponse): boolean {
    if (response.status === UNAUTHORIZED) return true
    const to = targetOf(request.url, response)
    return to !== undefined && this.#isLoginPage(to)
  }

  /** A page that was requested before the last login says nothing about the session since. */
  #end(startedAt: number, now: number): number {
    if (startedAt < this.#openedAt) return now
    const at = Math.max(now, this.#endedAt + this.#settings.intervalMs)
    if (at < this.#againAt) this.#againAt = at
    return this.#againAt
  }

  #advance(step: Step, outcome: Outcome, now: number): MaybePromise<void> {
    if (!outcome.ok)
      return this.#fail(`${what(step)} could not be fetched: ${this.#hide(outcome.message)}`, now)
    const to = targetOf(step.request.url, outcome)
    if (to !== undefined && originOf(to) !== this.#origin && step.kind !== 'send')
      return this.#fail(`${what(step)} redirects to ${originOf(to)}; a session must stay on its origin`, now)
    if (to !== undefined && step.redirects >= MAX_REDIRECTS)
      return this.#fail(`${what(step)} redirects more than ${MAX_REDIRECTS} times`, now)
    if (step.kind === 'form') return this.#readForm(step, outcome, to, now)
    return this.#judge(step, outcome, to, now)
  }

  async #readForm(step: Step, response: FetchedResponse, to: string | undefined, now: number): Promise<void> {
    if (to !== undefined) {
      this.#step = this.#get('form', to, step.redirects + 1)
      return
    }
    const { url } = step.request
    const { status } = response
    if (status < 200 || status > 299)
      return this.#fail(`the login page ${url} answered with status ${status}`, now)
    const form = this.#formIn(step.request, response)
    if (typeof form === 'string') return this.#fail(`the login page ${url} ${form}`, now)
    // Who is logged in already is often sent on from the login page.
    if (form === undefined && step.redirects > 0 && this.#openedAt > 0) return this.#succeed(now)
    if (form === undefined) {
      const { form: selector } = this.#settings
      const which = selector === undefined ? 'with a password field' : `that matches '${selector}'`
      return this.#fail(`the login page ${url} has no form ${which}`, now)
    }
    this.#formPage = url
    const values = await this.#values()
    const unknown = Object.keys(values).filter((name) => !form.names.includes(name))
    this.#unknown =
      unknown.length === 0
        ? ''
        : `; the form has no field ${unknown.join(', ')}, it has ${form.names.join(', ')}`
    this.#step = this.#send(form, values, url)
  }

  async #values(): Promise<FormValues> {
    const { fields } = this.#settings
    const values = typeof fields === 'function' ? await this.#parts.waits.wait(callFields(fields)) : fields
    if (values === LATE)
      throw new Error(`the function given as fields did not return within ${this.#parts.waits.ms} ms`)
    if (!isFormValues(values)) throw new Error('the function given as fields did not return texts by name')
    return values
  }

  /** Browsers send Origin and Referer with a form, and some servers require them. */
  #send(form: LoginForm, values: FormValues, from: string): Step {
    const body = filledIn(form, values).toString()
    this.#secrets = Object.values(values).filter((value) => value.length >= MIN_HIDDEN_LENGTH)
    if (form.method === 'GET') return this.#get('send', `${withoutQuery(form.action)}?${body}`, 0)
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      origin: this.#origin,
      referer: from,
    }
    const request = { ...requestFor(form.action), extras: { method: 'POST', headers, body } }
    return { kind: 'send', request, redirects: 0 }
  }

  async #judge(step: Step, response: FetchedResponse, to: string | undefined, now: number): Promise<void> {
    const { success } = this.#settings
    const { status } = response
    if (step.kind === 'send' && to !== undefined && (status === 307 || status === 308) && this.#isHere(to)) {
      this.#step = { ...step, request: { ...step.request, url: to }, redirects: step.redirects + 1 }
      return
    }
    const problem =
      success === undefined
        ? this.#refusal(step, response, to)
        : await this.#unfulfilled(success, step, response, to)
    if (problem === undefined) this.#succeed(now)
    else if (problem !== LATER) {
      // The same answer to the same fields: more tries would only lock the account.
      if (status < 500 && status !== TOO_MANY_REQUESTS) this.#tries = MAX_TRIES
      this.#fail(`the login was refused: ${problem}${this.#unknown}`, now)
    }
  }

  #refusal(step: Step, response: FetchedResponse, to: string | undefined): string | undefined {
    if (response.status >= 400) return `it was answered with status ${response.status}`
    if (to !== undefined) return this.#isLoginPage(to) ? 'it redirects to the login page' : undefined
    return this.#formIn(step.request, response) === undefined ? undefined : 'the login form is shown again'
  }

  /** A rule about the page is for the page that a redirect leads to. */
  async #unfulfilled(
    rule: SessionConditions,
    step: Step,
    response: FetchedResponse,
    to: string | undefined,
  ): Promise<string | typeof LATER | undefined> {
    const page = this.#lazyPage(step.request, response)
    const isFollowed = to !== undefined && this.#isHere(to) && (rule.selector ?? rule.when) !== undefined
    const { statuses, redirect } = rule
    const now = isFollowed ? { statuses, redirect } : rule
    if (await fulfils(now, response, page, this.#parts.waits)) return undefined
    if (!isFollowed) return `the rule 'success' does not apply to its response (status ${response.status})`
    this.#step = this.#get('check', to, step.redirects + 1)
    return LATER
  }

  #formIn(request: CrawlRequest, response: FetchedResponse): LoginForm | string | undefined {
    let document: BareDocument
    try {
      document = this.#parts.pageOf(request, response).document as unknown as BareDocument
    } catch {
      return undefined
    }
    return loginForm(document, request.url, this.#settings.form)
  }

  #lazyPage(request: CrawlRequest, response: FetchedResponse): () => Page {
    let page: Page | undefined
    return () => {
      page ??= this.#parts.pageOf(request, response)
      return page
    }
  }

  #isHere(url: string): boolean {
    return originOf(url) === this.#origin
  }

  #isLoginPage(url: string): boolean {
    const path = withoutQuery(url)
    return path === withoutQuery(this.#settings.login) || path === withoutQuery(this.#formPage)
  }

  #get(kind: Step['kind'], url: string, redirects: number): Step {
    return { kind, request: requestFor(url), redirects }
  }

  #hide(message: string): string {
    return this.#secrets.reduce(
      (text, secret) => text.replaceAll(secret, '…').replaceAll(encodeURIComponent(secret), '…'),
      message,
    )
  }

  #succeed(now: number): void {
    this.#open = true
    this.#openedAt = now
    this.#againAt = Number.POSITIVE_INFINITY
    this.#tries = 0
    this.#problem = undefined
    this.#save(now)
  }

  #fail(message: string, now: number, cause?: unknown): void {
    this.#tries = Math.min(this.#tries + 1, MAX_TRIES)
    this.#problem = { message: this.#hide(message), cause }
    this.#save(now)
  }

  #save(now: number): void {
    this.#endedAt = now
    const record: SessionRecord = { at: now, open: this.#open, tries: this.#tries, form: this.#formPage }
    this.#parts.records.put(this.#origin, record, hostOf(`${this.#origin}/`))
  }

  /** A new run starts with new tries: the program may have another password. */
  #restore(): MaybePromise<void> {
    const read = (value: unknown) => {
      if (this.#isRestored) return
      this.#isRestored = true
      const { at, open, tries, form } = (value ?? {}) as Partial<SessionRecord>
      if (typeof at !== 'number') return
      if (form !== undefined && this.#isHere(form)) this.#formPage = form
      this.#endedAt = at
      this.#open = open === true
      if (this.#open) this.#openedAt = at
      if (at >= this.#parts.openedAt) this.#tries = tries ?? 0
    }
    const answer = this.#parts.records.get(this.#origin, hostOf(`${this.#origin}/`))
    return answer instanceof Promise ? answer.then(read) : read(answer)
  }
}

const UNAUTHORIZED = 401
/** The page that decides is fetched next. */
const LATER = Symbol('later')

function what({ kind, request: { url } }: Step): string {
  if (kind === 'form') return `the login page ${url}`
  return kind === 'send' ? 'the login form' : `the page after the login, ${url},`
}

function requestFor(url: string): CrawlRequest {
  return { url, host: hostOf(url), depth: 0, priority: 0, attempt: 0, redirects: 0, parent: undefined }
}

/** Its error may show a secret, so it becomes the cause of the failure and not a part of the message. */
async function callFields(fields: () => MaybePromise<FormValues>): Promise<FormValues> {
  try {
    return await fields()
  } catch (cause) {
    throw new Error('the function given as fields threw', { cause })
  }
}
