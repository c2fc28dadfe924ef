import type { CrawlEvents, PageReader } from '../../engine/contract.js'
import { type KumoError, messageOf } from '../../errors.js'
import type { Extractor, Page } from '../../extract/contract.js'
import type { Hook } from '../../hooks/contract.js'
import type { Failure, Link, MaybePromise } from '../../types.js'
import type { RequestSpec } from '../../url/request-options.js'
import type { ClosureCall, PageContent, PageRef, PlainError } from '../messages.js'

/** The user's closures, and what is needed to call them. */
export interface Closures {
  readonly extractors: readonly Extractor[]
  readonly hooks: readonly Hook[]
  /** Flushes a hook for one of several workers: calls do not overlap. */
  flushHook(closure: number): MaybePromise<void>
  readonly reader: PageReader | undefined
  listeners<E extends keyof CrawlEvents>(event: E): readonly CrawlEvents[E][]
  /** Creates the page from the content that a worker sent. */
  pageOf(content: PageContent): Page
  /** Adds to a page what extractors in the worker have found. */
  complete(page: Page, data: object, links: readonly Link[]): void
  /** Whether what the page follows reaches its worker; otherwise `page.follow` throws. */
  setOpen(page: Page, isOpen: boolean): void
  /** Removes and returns what was followed. */
  takeFollowed(page: Page): readonly RequestSpec[] | undefined
  /** Resolves once the records that hooks wrote are on disk; absent if there is no durable store. */
  flush?(): MaybePromise<void> | undefined
}

/** Errors remembered, so that a listener gets the very object that was thrown. */
const ERRORS_REMEMBERED = 1000

/** Runs the user's closures on the main thread on behalf of workers. There is one per worker. */
export class ClosureHost {
  readonly #closures: Closures
  readonly #pages = new Map<number, HostedPage>()

  constructor(closures: Closures) {
    this.#closures = closures
  }

  /** Returns the closure's result; rejects with what the user's code threw. */
  async call(call: ClosureCall, ref: PageRef | undefined): Promise<unknown> {
    const page = ref === undefined ? undefined : this.#open(ref)
    const { extractors, hooks, reader, listeners, flush } = this.#closures
    switch (call.part) {
      case 'extractor': {
        const extraction = await extractors[call.closure]!.extract(page!)
        if (!extraction) return undefined
        const { data, links } = extraction
        return {
          ...(data && { data }),
          ...(links && { links: typeof links === 'string' ? links : [...links] }),
        }
      }
      case 'hook':
        await hooks[call.closure]!.page!(page!)
        await flush?.()
        return undefined
      case 'hook-call': {
        const { method, argument } = call
        const hook = hooks[call.closure] as Record<typeof method, (argument: unknown) => unknown>
        if (method === 'flush') await this.#closures.flushHook(call.closure)
        else await hook[method](method === 'failure' ? failureOf(argument) : argument)
        await flush?.()
        return undefined
      }
      case 'listener': {
        const argument = page ?? (call.event === 'failure' ? failureOf(call.argument) : call.argument)
        await callAll(listeners(call.event as keyof CrawlEvents), argument)
        return undefined
      }
      case 'reader':
        return reader?.put(page!) ?? true
    }
  }

  /** A call has ended: returns what the page has followed, for the reply. Without a reply, nothing can be followed. */
  takeFollowed({ number }: PageRef): readonly RequestSpec[] | undefined {
    const hosted = this.#pages.get(number)
    if (hosted === undefined) return undefined
    if (--hosted.calls === 0) this.#closures.setOpen(hosted.page, false)
    return this.#closures.takeFollowed(hosted.page)
  }

  withdraw(): void {
    this.#closures.reader?.withdraw()
  }

  pageDone(number: number): void {
    const hosted = this.#pages.get(number)
    this.#pages.delete(number)
    if (hosted !== undefined) this.#closures.setOpen(hosted.page, false)
  }

  #open({ number, content, data, links }: PageRef): Page {
    let hosted = this.#pages.get(number)
    if (hosted === undefined) {
      hosted = { page: this.#closures.pageOf(content!), calls: 0 }
      this.#pages.set(number, hosted)
    }
    if (hosted.calls++ === 0) this.#closures.setOpen(hosted.page, true)
    this.#closures.complete(hosted.page, data, links)
    return hosted.page
  }
}

interface HostedPage {
  readonly page: Page
  /** Calls that have not ended. */
  calls: number
}

/** Calls all listeners, even if one throws; then throws the first error. */
async function callAll(
  listeners: readonly ((argument: never) => unknown)[],
  argument: unknown,
): Promise<void> {
  const running = listeners.map(async (listener) => listener(argument as never))
  for (const result of await Promise.allSettled(running))
    if (result.status === 'rejected') throw result.reason
}

let nextError = 1
const errors = new Map<number, unknown>()

/** A closure's error as data. */
export function plainError(error: unknown): PlainError {
  const number = nextError++
  errors.set(number, error)
  errors.delete(number - ERRORS_REMEMBERED)
  const { code, stack } = (error ?? {}) as Partial<KumoError>
  return { message: messageOf(error), code, stack, closure: number }
}

function failureOf(plain: unknown): Failure {
  const { closure, ...failure } = plain as Failure & { closure?: number }
  return closure === undefined ? failure : { ...failure, cause: errors.get(closure) }
}
