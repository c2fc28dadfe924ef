import type { PageReader } from '../../engine/contract.js'
import { messageOf, sentence } from '../../errors.js'
import type { Extraction, Extractor, Page } from '../../extract/contract.js'
import type { Hook, HookQueue } from '../../hooks/contract.js'
import type { Failure, Link, RequestExtras } from '../../types.js'
import type { RequestSpec } from '../../url/request-options.js'
import type { ClosureCall, PageContent, PageRef, PlainError, ToMain, ToWorker } from '../messages.js'

/** A closure that runs on the main thread, as portable options describe it. */
export interface ClosureExtractor {
  readonly closure: number
  readonly name: string
  readonly mediaTypes?: readonly string[] | undefined
}

export interface ClosureHook {
  readonly closure: number
  readonly name: string
  /** Which of its methods there are. */
  readonly calls: readonly HookCall[]
  readonly queue: HookQueue | undefined
}

/** What is called on a hook between opening and closing. */
type HookCall = 'page' | 'failure' | 'redirect' | 'skip' | 'feed' | 'exchange' | 'flush'

/** What the proxy must know about pages beyond their contract. */
export interface PageAccess {
  /** Links that extractors have added. */
  linksOf(page: Page): readonly Link[]
  extrasOf(page: Page): RequestExtras | undefined
  /** Adds what closures on the main thread have followed. */
  adoptFollowed(page: Page, requests: readonly RequestSpec[]): void
}

/** Posts to the main thread. */
export type Post = (message: ToMain, transfer?: readonly ArrayBuffer[]) => void

/** An error thrown by user code on the main thread. */
class ClosureError extends Error {
  /** The number under which the main thread remembers the original error. */
  readonly closure: number | undefined
  readonly code: string | undefined

  constructor({ message, code, closure, stack }: PlainError) {
    super(message)
    this.code = code
    this.closure = closure
    if (stack !== undefined) this.stack = stack
  }
}

/**
 * The user's closures as seen from a worker: each looks like any other part, but its work is done on the main thread.
 * The engine does not notice. A page is sent over once, when the first closure needs it.
 */
export class ClosureProxy {
  readonly #post: Post
  readonly #access: PageAccess
  readonly #pages = new WeakMap<Page, number>()
  #nextPage = 1
  #nextCall = 1
  readonly #pending = new Map<
    number,
    {
      readonly page: Page | undefined
      readonly resolve: (value: unknown) => void
      readonly reject: (error: unknown) => void
    }
  >()

  constructor(post: Post, access: PageAccess) {
    this.#post = post
    this.#access = access
  }

  extractor({ closure, name, mediaTypes }: ClosureExtractor): Extractor {
    return {
      name,
      ...(mediaTypes && { mediaTypes }),
      extract: (page) => this.#call({ part: 'extractor', closure }, page) as Promise<Extraction | undefined>,
    }
  }

  hook({ closure, name, calls, queue }: ClosureHook): Hook {
    const call = async (method: Exclude<HookCall, 'page'>, argument?: unknown) =>
      void (await this.#call({ part: 'hook-call', closure, method, argument }))
    const hook: Required<Pick<Hook, HookCall>> = {
      page: async (it) => void (await this.#call({ part: 'hook', closure }, it)),
      failure: (it) => call('failure', plainFailure(it)),
      redirect: (it) => call('redirect', it),
      skip: (it) => call('skip', it),
      feed: (it) => call('feed', it),
      exchange: (it) => call('exchange', it),
      flush: () => call('flush'),
    }
    return { name, queue, ...Object.fromEntries(calls.map((method) => [method, hook[method]])) }
  }

  /** Forwards an event to the listeners on the main thread. */
  listener(event: string): (argument: unknown) => Promise<unknown> {
    if (event === 'page') return (page) => this.#call({ part: 'listener', event }, page as Page)
    if (event === 'failure') {
      return (it) => this.#call({ part: 'listener', event, argument: plainFailure(it as Failure) })
    }
    return (argument) => this.#call({ part: 'listener', event, argument })
  }

  reader(): PageReader {
    return {
      put: (page) => this.#call({ part: 'reader' }, page) as Promise<boolean>,
      withdraw: () => this.#post({ kind: 'withdraw' }),
    }
  }

  /** The main thread has responded. */
  reply({ id, value, error, followed }: Extract<ToWorker, { kind: 'reply' }>): void {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (followed !== undefined && pending?.page !== undefined)
      this.#access.adoptFollowed(pending.page, followed)
    if (error === undefined) pending?.resolve(value)
    else pending?.reject(new ClosureError(error))
  }

  /** No closure needs this page any more. */
  pageDone(page: Page): void {
    const number = this.#pages.get(page)
    if (number !== undefined) this.#post({ kind: 'pageDone', page: number })
  }

  #call(call: ClosureCall, page?: Page): Promise<unknown> {
    const id = this.#nextCall++
    const result = new Promise((resolve, reject) => this.#pending.set(id, { page, resolve, reject }))
    try {
      const ref = page === undefined ? undefined : this.#refOf(page)
      const body = ref?.content?.body.buffer as ArrayBuffer | undefined
      this.#post({ kind: 'call', id, call, page: ref }, body === undefined ? [] : [body])
    } catch (error) {
      this.#pending.delete(id)
      throw notSendable(error, page)
    }
    return result
  }

  #refOf(page: Page): PageRef {
    const known = this.#pages.get(page)
    const links = this.#access.linksOf(page)
    if (known !== undefined) return { number: known, data: page.data, links }
    const number = this.#nextPage++
    this.#pages.set(page, number)
    return { number, content: contentOf(page, this.#access.extrasOf(page)), data: page.data, links }
  }
}

/** The body is copied once, so that hooks and checks in this thread keep theirs; the copy is transferred. */
export function contentOf(page: Page, extras: RequestExtras | undefined): PageContent {
  const { url, host, depth, parent, redirectedFrom, attempt, change, status, headers, body } = page
  const { truncated, wireBytes, fetchedAt, fetchMs } = page
  return {
    url,
    host,
    depth,
    parent,
    via: redirectedFrom,
    attempt,
    priority: page.request.priority,
    extras,
    change,
    status,
    headers: [...headers.entries()],
    body: new Uint8Array(body),
    truncated,
    wireBytes,
    fetchedAt,
    fetchMs,
  }
}

/** A failure that can be posted. A cause that cannot be cloned is sent as text. */
function plainFailure(failure: Failure): unknown {
  const { cause, ...rest } = failure
  if (cause === undefined) return rest
  if (cause instanceof ClosureError) return { ...rest, closure: cause.closure }
  try {
    return { ...rest, cause: structuredClone(withIssues(cause)) }
  } catch {
    return { ...rest, cause: String(cause) }
  }
}

/** A clone of an error has its message only; what `select()` found wrong with a page must not be lost. */
function withIssues(cause: unknown): unknown {
  if (!(cause instanceof Error && 'issues' in cause)) return cause
  const { name, message, issues, code } = cause as Error & {
    readonly issues: unknown
    readonly code?: unknown
  }
  return { name, message, code, issues }
}

function notSendable(error: unknown, page: Page | undefined): Error {
  const what = page === undefined ? 'an argument' : `page.data of ${page.url}`
  return new Error(
    `${what} cannot be sent to the main thread, where your function runs: ${sentence(messageOf(error))} ` +
      'Extract plain data, or pass the function with fromModule(), so that it runs in the worker',
  )
}
