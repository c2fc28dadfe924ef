/** One run of the program that crawls: started, perhaps interrupted by a signal, and waited for until it is gone. */

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { EndReason, LevelOptions } from 'kumo'
import { Pulse, readBeats } from './pulse.js'

/** What the program is told. It goes to another process, so it is plain data. */
export interface Task {
  readonly seeds: readonly string[]
  /** The folder of the store; absent: a store that forgets, to see that the checks notice. */
  readonly folder?: string
  readonly level?: Pick<LevelOptions, 'durability'>
  readonly delayMs: number
  readonly concurrency: number
  readonly limitPages?: number
  /** Worker threads; none if absent. */
  readonly workers?: number
  /** The file to which every delivered page adds a line. */
  readonly deliveries: string
  /** The file to which the program adds the time, every so many ms, unless it is busy. */
  readonly pulse: string
  readonly beatMs: number
}

/** What the program says when its crawl is over. */
export interface Ending {
  readonly reason: EndReason
  readonly pages: number
  readonly earlierRuns: number
}

/** How a run went. Instants are ms since the epoch. */
export interface Run {
  readonly startedAt: number
  /** When the signal was sent; undefined if the program was not interrupted. */
  readonly interruptedAt: number | undefined
  /** Whether it had no say in its end. */
  readonly killed: boolean
  /** Undefined if it was killed before it could speak. */
  readonly ending: Ending | undefined
  /** How its time went. */
  readonly pulse: Pulse
  /** What it printed besides: the troubles of its store. */
  readonly complaints: string
}

export interface Interruption {
  readonly signal: 'SIGKILL' | 'SIGTERM'
  /** Called when the program is being started; the signal is sent when it resolves. */
  moment(): Promise<unknown>
}

const PROGRAM = fileURLToPath(new URL('./program.mjs', import.meta.url))
const PACKAGE = fileURLToPath(new URL('../../dist/index.js', import.meta.url))

/** Far longer than any crawl of these tests: a program that hangs is to fail a test with a sentence, not by its end. */
const PATIENCE_MS = 400_000

/** Instants of this process, on the same steady clock as those of the server's log. */
const instant = (): number => performance.timeOrigin + performance.now()

/** Resolves when the program is gone; rejects if it failed or hung. */
export function run(task: Task, interruption?: Interruption): Promise<Run> {
  if (!existsSync(PACKAGE)) {
    throw new Error(
      'The durability tests run the built package, and dist/ is missing: run `npm run build` first.',
    )
  }
  // What vitest sets for itself is no business of the program.
  const { NODE_OPTIONS: _, ...env } = process.env
  const startedAt = instant()
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(task)], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let complaints = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (complaints += text))

  let interruptedAt: number | undefined
  const interrupt = (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    // Before the signal, so that nothing that it cut short can seem to be older than it was.
    interruptedAt = instant()
    child.kill(signal)
  }
  // A moment that never comes, because the program or the server was gone before, interrupts nothing.
  interruption?.moment().then(
    () => interrupt(interruption.signal),
    () => {},
  )
  return new Promise((resolve, reject) => {
    let hung = false
    const patience = setTimeout(() => {
      hung = true
      child.kill('SIGKILL')
    }, PATIENCE_MS)
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(patience)
      const killed = signal === 'SIGKILL' && !hung
      const said = stdout.trim()
      if (hung) reject(new Error(`The program had not ended after ${PATIENCE_MS} ms.\n${complaints}`))
      else if (!killed && code !== 0)
        reject(new Error(`The program failed (${code ?? signal}).\n${complaints}`))
      else {
        const ending = said === '' ? undefined : (JSON.parse(said) as Ending)
        const pulse = new Pulse(readBeats(task.pulse, startedAt), task.beatMs)
        resolve({ startedAt, interruptedAt, killed, ending, pulse, complaints })
      }
    })
  })
}
