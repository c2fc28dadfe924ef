/** `kumo crawl`: runs a crawl from the command line, shows how it stands and tells what it came to. */

import type { Crawler, CrawlRun, Failure, Summary } from '../../index.js'
import { systemClock } from '../../time.js'
import { onInterrupt } from '../interrupts.js'
import { Screen, USUAL_WIDTH } from '../screen.js'
import { failureLine, pageJson, pageLine } from './listing.js'
import { type CrawlOrder, readOrder } from './order.js'
import { showProgress } from './progress.js'
import { summaryLines } from './summary.js'

const STOPPING = 'Stopping: visits in flight may finish. Ctrl-C again to abort them.'
const GOES_ON = 'The same command goes on from here later.'
const ABORTING = 'Aborting.'
/** A page listener that waits for its reader. A pager may be left open over night; that is no failure of a page. */
const READERS_PATIENCE = '1d'

/** Resolves with the exit code. */
export async function crawl(args: readonly string[]): Promise<number> {
  return new CrawlCommand(await readOrder(args)).run()
}

/** One run of the command, from the first line to the last. */
class CrawlCommand {
  readonly #order: CrawlOrder
  readonly #crawler: Crawler
  readonly #clock = systemClock()
  readonly #screen = new Screen(process.stdout, process.stderr, process.env.TERM)
  readonly #hurry = new AbortController()
  /** The first failure of each code. */
  readonly #examples = new Map<string, Failure>()
  /** Why standard output took no more. */
  #unwritable: NodeJS.ErrnoException | undefined = undefined

  constructor(order: CrawlOrder) {
    this.#order = order
    this.#crawler = this.#listing(order.crawler)
      .timeout({ hook: READERS_PATIENCE })
      .on('store', ({ message }) => this.#screen.note(`store: ${message}`))
      .on('failure', (failure) => this.#keepExample(failure))
  }

  async run(): Promise<number> {
    process.stdout.on('error', (error) => this.#cannotWrite(error))
    const run = this.#crawler.start({ signal: this.#hurry.signal })
    const ignore = onInterrupt(this.#clock, { first: () => this.#stop(run), second: () => this.#abort() })
    const hide = this.#order.isQuiet ? () => {} : this.#showProgress(run)
    try {
      const summary = await run.done
      hide()
      return this.#end(summary)
    } finally {
      hide()
      ignore()
      this.#order.seedFile?.close()
    }
  }

  #showProgress(run: CrawlRun): () => void {
    return showProgress(() => run.stats(), this.#screen, this.#clock)
  }

  /** Adds the listeners that write pages. */
  #listing(crawler: Crawler): Crawler {
    const { isJson, isQuiet } = this.#order
    if (isJson) return crawler.on('page', (page) => this.#screen.result(pageJson(page)))
    if (isQuiet) return crawler
    return crawler
      .on('page', (page) => this.#screen.result(pageLine(page)))
      .on('failure', (failure) => (failure.final ? this.#screen.result(failureLine(failure)) : undefined))
  }

  #keepExample(failure: Failure): void {
    if (failure.final && !this.#examples.has(failure.code)) this.#examples.set(failure.code, failure)
  }

  #stop(run: CrawlRun): void {
    this.#note(STOPPING, ...(this.#order.command === undefined ? [] : [GOES_ON]))
    run.stop()
  }

  #abort(): void {
    this.#note(ABORTING)
    this.#hurry.abort()
  }

  /** Pages that nobody gets must not count as delivered, so the crawl ends at once and leaves them pending. */
  #cannotWrite(error: NodeJS.ErrnoException): void {
    this.#unwritable ??= error
    this.#hurry.abort()
  }

  #note(...lines: readonly string[]): void {
    if (!this.#order.isQuiet) this.#screen.note(...lines)
  }

  #end(summary: Summary): number {
    const { command, pageLimit } = this.#order
    this.#note(...summaryLines(summary, { examples: this.#examples, command, pageLimit, width: USUAL_WIDTH }))
    // `| head` has had enough, which is its good right; a full disk is another matter.
    if (this.#unwritable !== undefined && this.#unwritable.code !== 'EPIPE') {
      this.#screen.note(`kumo crawl: standard output cannot be written to: ${this.#unwritable.message}`)
      return 1
    }
    return summary.reason === 'done' && summary.pages === 0 ? 1 : 0
  }
}
