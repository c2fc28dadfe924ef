/**
 * One trial: a stored crawl, one damaged file, and what becomes of the next run. It must be refused with a word, or go on
 * with a word, or deliver exactly what it would have delivered without the damage.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { LevelOptions } from 'kumo'

/** What the program is told. It goes to another process, so it is plain data. */
export interface TrialTask {
  readonly folder: string
  readonly seeds: readonly string[]
  readonly workers: number
  readonly level: LevelOptions
  /** Whether the folder is looked into first. */
  readonly inspects?: boolean
  /** A file that takes a line for each page. */
  readonly deliveries?: string
  readonly dieAfterPages?: number
}

export interface Failure {
  /** Absent: an error that is not Kumo's. */
  readonly code?: string
  readonly message: string
}

export interface Crawled {
  readonly pages: readonly string[]
  readonly events: readonly string[]
  readonly reason?: string
  readonly error?: Failure
}

export interface TrialAnswer {
  /** What came of looking into it. Absent: nothing bad. */
  readonly looked?: Failure
  readonly first: Crawled
  /** The run after one that ended well, without repair. */
  readonly again?: Crawled
}

/** What a run without damage does: what was delivered before, and what is delivered then. */
export interface Whole {
  readonly before: ReadonlySet<string>
  readonly rest: ReadonlySet<string>
}

export type Outcome = 'refused' | 'told' | 'whole'

/** Throws if the trial breaks a promise. */
export function judge(answer: TrialAnswer, repairs: boolean, { before, rest }: Whole): Outcome {
  const { looked, first, again } = answer
  if (looked !== undefined) assertTyped(looked, 'inspect')
  if (first.error !== undefined) {
    assertTyped(first.error, 'run')
    if (repairs) throw new Error(`repair did not help: ${first.error.message}`)
    if (first.pages.length > 0) throw new Error(`it was noticed only in the middle: ${first.error.message}`)
    return 'refused'
  }
  if (again?.error !== undefined) throw new Error(`the run after it failed: ${again.error.message}`)
  if (again?.reason !== 'already-done' || again.events.length > 0)
    throw new Error(`the run after it found something to do: ${JSON.stringify(again)}`)
  const now = new Set(first.pages)
  const repeated = [...now].filter((url) => before.has(url)).length
  const missing = [...rest].filter((url) => !now.has(url)).length
  const told = first.events.join('\n')
  const allowed = losesIn(told)
  const said = `${missing} missing, ${repeated} repeated, told: ${told || 'nothing'}`
  if (missing > 0 && allowed.missing === 0) throw new Error(`pages are lost without a word: ${said}`)
  if (repeated > allowed.repeated) throw new Error(`pages are repeated without a word: ${said}`)
  return told === '' ? 'whole' : 'told'
}

function assertTyped({ code, message }: Failure, where: string): void {
  if (code?.startsWith('KUMO_STORE_') && code !== 'KUMO_STORE_FAILED') return
  throw new Error(`${where}: a raw error: ${message}`)
}

/** How many pages may be missing or come again, by what the store has told. */
function losesIn(told: string): { missing: number; repeated: number } {
  const counted = /Up to (\d+) pending URLs are missing, and up to (\d+) pages/.exec(told)
  if (counted !== null) return { missing: Number(counted[1]), repeated: Number(counted[2]) }
  // The crawl goes on from an earlier moment, at which all was there.
  if (/as after a power failure/.test(told)) return { missing: 0, repeated: Number.POSITIVE_INFINITY }
  if (/Pages may be missing, and others may be fetched again/.test(told))
    return { missing: Number.POSITIVE_INFINITY, repeated: Number.POSITIVE_INFINITY }
  return { missing: 0, repeated: 0 }
}

const PROGRAM = fileURLToPath(new URL('./damage-program.mjs', import.meta.url))
/** Far longer than any trial takes. */
const PATIENCE_MS = 400_000

/** The program, started when it is needed, and again when it has died. */
export class TrialProgram {
  #child: ChildProcess | undefined
  #lines: AsyncIterator<string> | undefined
  #reader: Interface | undefined

  /** Rejects if the program dies, or hangs, over it. */
  async ask(task: TrialTask): Promise<TrialAnswer> {
    this.#child ??= this.#start()
    const child = this.#child
    let complaints = ''
    const complain = (text: Buffer) => void (complaints += text)
    child.stderr!.on('data', complain)
    const patience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
    child.stdin!.write(`${JSON.stringify(task)}\n`)
    const { value, done } = await this.#lines!.next()
    clearTimeout(patience)
    child.stderr!.off('data', complain)
    if (!done) return JSON.parse(value) as TrialAnswer
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    this.#child = undefined
    throw new Error(`the program died: ${child.signalCode ?? child.exitCode} ${complaints}`)
  }

  async close(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined) return
    child.stdin!.end()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    this.#reader!.close()
  }

  #start(): ChildProcess {
    const { NODE_OPTIONS: _, ...env } = process.env
    const child = spawn(process.execPath, [PROGRAM], { env, stdio: ['pipe', 'pipe', 'pipe'] })
    this.#reader = createInterface({ input: child.stdout! })
    this.#lines = this.#reader[Symbol.asyncIterator]()
    return child
  }
}
