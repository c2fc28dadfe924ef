/** `kumo crawl`: runs a crawl from the command line, shows its progress and prints a summary. */

import type { Crawler, CrawlRun, Failure, Summary } from '../../index.js'
import { systemClock } from '../../time.js'
import { onInterrupt } from '../interrupts.js'
import { DEFAULT_WIDTH, Screen } from '../screen.js'
import { type CrawlCommandLine, readCrawlCommandLine } from './command-line.js'
import { failureLine, pageJson, pageLine } from './page-lines.js'
import { showProgress } from './progress.js'
import { summaryLines } from './summary.js'

const STOPPING = 'Stopping: waiting for requests in flight. Press Ctrl-C again to abort them.'
const RESUMABLE = 'Run the same command again to resume.'
const ABORTING = 'Aborting.'
/** Someone may leave a pager open overnight: the listener that waits for it must not time out and fail the page. */
const LISTENER_TIMEOUT = '1d'

/** Resolves with the exit code. */
export async function crawlCommand(args: readonly string[]): Promise<number> {
  return new CrawlCommand(await readCrawlCommandLine(args)).run()
}

/** One run of the command, from the first line to the last. */
class CrawlCommand {
  readonly #commandLine: CrawlCommandLine
  readonly #crawler: Crawler
  readonly #clock = systemClock()
  readonly #screen = new Screen(process.stdout, process.stderr, process.env.TERM)
  readonly #aborter = new AbortController()
  /** The first failure of each code. */
  readonly #examples = new Map<string, Failure>()
  /** The error that standard output failed with. */
  #outputError: NodeJS.ErrnoException | undefined = undefined

  constructor(commandLine: CrawlCommandLine) {
    this.#commandLine = commandLine
    this.#crawler = this.#withPageListeners(commandLine.crawler)
      .timeout({ hook: LISTENER_TIMEOUT })
      .on('store', ({ message }) => this.#screen.note(`store: ${message}`))
      .on('failure', (failure) => this.#keepExample(failure))
  }

  async run(): Promise<number> {
    process.stdout.on('error', (error) => this.#onOutputError(error))
    const run = this.#crawler.start({ signal: this.#aborter.signal })
    const removeHandlers = onInterrupt(this.#clock, {
      first: () => this.#stop(run),
      second: () => this.#abort(),
    })
    const hide = this.#commandLine.isQuiet ? () => {} : this.#showProgress(run)
    try {
      const summary = await run.done
      hide()
      return this.#end(summary)
    } finally {
      hide()
      removeHandlers()
      this.#commandLine.seedFile?.close()
    }
  }

  #showProgress(run: CrawlRun): () => void {
    return showProgress(() => run.stats(), this.#screen, this.#clock)
  }

  /** Adds the listeners that print pages. */
  #withPageListeners(crawler: Crawler): Crawler {
    const { isJson, isQuiet } = this.#commandLine
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
    this.#note(STOPPING, ...(this.#commandLine.command === undefined ? [] : [RESUMABLE]))
    run.stop()
  }

  #abort(): void {
    this.#note(ABORTING)
    this.#aborter.abort()
  }

  /** A page that was not written must not count as delivered, so the crawl aborts and leaves it pending. */
  #onOutputError(error: NodeJS.ErrnoException): void {
    this.#outputError ??= error
    this.#aborter.abort()
  }

  #note(...lines: readonly string[]): void {
    if (!this.#commandLine.isQuiet) this.#screen.note(...lines)
  }

  #end(summary: Summary): number {
    const { command, pageLimit } = this.#commandLine
    this.#note(
      ...summaryLines(summary, { examples: this.#examples, command, pageLimit, width: DEFAULT_WIDTH }),
    )
    // EPIPE is normal: `| head` closed the pipe. Anything else, such as a full disk, is an error.
    if (this.#outputError !== undefined && this.#outputError.code !== 'EPIPE') {
      this.#screen.note(`kumo crawl: cannot write to standard output: ${this.#outputError.message}`)
      return 1
    }
    return summary.reason === 'done' && summary.pages === 0 ? 1 : 0
  }
}
