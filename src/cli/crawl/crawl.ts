/** `kumo crawl`: runs a crawl from the command line, shows its progress and prints a summary. */

import type { Crawler, Failure, Summary } from '../../index.js'
import { runCrawl } from '../run-crawl.js'
import { DEFAULT_WIDTH, Screen } from '../screen.js'
import { type CrawlCommandLine, readCrawlCommandLine } from './command-line.js'
import { summaryLines } from './summary.js'

const RESUMABLE = 'Run the same command again to resume.'
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
    const { format, isQuiet, command, seedFile, health } = this.#commandLine
    process.stdout.on('error', (error) => this.#onOutputError(error))
    if (format?.header !== undefined) void this.#screen.result(format.header)
    try {
      const onStop = command === undefined ? undefined : RESUMABLE
      const options = { screen: this.#screen, isQuiet, aborter: this.#aborter, onStop, health }
      return this.#end(await runCrawl(this.#crawler, options))
    } finally {
      seedFile?.close()
    }
  }

  /** Adds the listeners that print pages. */
  #withPageListeners(crawler: Crawler): Crawler {
    const { format } = this.#commandLine
    if (format === undefined) return crawler
    const { page: ofPage, failure: ofFailure } = format
    const withPages = crawler.on('page', async (page) => this.#screen.result(await ofPage(page)))
    if (ofFailure === undefined) return withPages
    return withPages.on('failure', (failure) =>
      failure.final ? this.#screen.result(ofFailure(failure)) : undefined,
    )
  }

  #keepExample(failure: Failure): void {
    if (failure.final && !this.#examples.has(failure.code)) this.#examples.set(failure.code, failure)
  }

  /** A page that was not written must not count as delivered, so the crawl aborts and leaves it pending. */
  #onOutputError(error: NodeJS.ErrnoException): void {
    this.#outputError ??= error
    this.#aborter.abort()
  }

  #end(summary: Summary): number {
    const { command, pageLimit, isQuiet } = this.#commandLine
    const details = { examples: this.#examples, command, pageLimit, width: DEFAULT_WIDTH }
    if (!isQuiet) this.#screen.note(...summaryLines(summary, details))
    // EPIPE is normal: `| head` closed the pipe. Anything else, such as a full disk, is an error.
    if (this.#outputError !== undefined && this.#outputError.code !== 'EPIPE') {
      this.#screen.note(`kumo crawl: cannot write to standard output: ${this.#outputError.message}`)
      return 1
    }
    return summary.reason === 'done' && summary.pages === 0 ? 1 : 0
  }
}
