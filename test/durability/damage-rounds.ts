/** Damages a stored crawl again and again, one file at a time, and looks what becomes of each. */

import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Random } from 'kumo/adapters'
import { startWeb } from '../loopback/web.js'
import { judge, type Outcome, TrialProgram, type Whole } from './damage-trial.js'

/** Kinds of files, by their names. */
export const KINDS = {
  table: /\.ldb$/,
  log: /^\d+\.log$/,
  list: /^MANIFEST-/,
  current: /^CURRENT$/,
  commits: /^kumo-commits/,
} as const

export type Kind = keyof typeof KINDS

const BLOCK_BYTES = 4096

/** What is done to a file, and where it was done. */
export const INJURIES = {
  flip(file, random) {
    const bytes = readFileSync(file)
    const at = Math.floor(random.next() * bytes.length)
    bytes[at] = bytes[at]! ^ (1 << Math.floor(random.next() * 8))
    writeFileSync(file, bytes)
    return at
  },
  zero(file, random) {
    const bytes = readFileSync(file)
    const at = BLOCK_BYTES * Math.floor(random.next() * Math.ceil(bytes.length / BLOCK_BYTES))
    bytes.fill(0, at, Math.min(bytes.length, at + BLOCK_BYTES))
    writeFileSync(file, bytes)
    return at
  },
  cut(file, random) {
    const at = Math.floor(random.next() * statSync(file).size)
    truncateSync(file, at)
    return at
  },
  remove(file) {
    rmSync(file)
    return 0
  },
} satisfies Record<string, (file: string, random: Random) => number>

export type Injury = keyof typeof INJURIES

export interface DamageRounds {
  readonly random: Random
  readonly kinds: readonly Kind[]
  readonly injuries: readonly Injury[]
  /** Trials for each kind of file and each injury, with repair and as many without. */
  readonly trials: number
  readonly workers: number
  /** Told of each trial. */
  onTrial?(trial: Trial): void
}

export interface Trial {
  readonly kind: Kind
  readonly injury: Injury
  readonly repairs: boolean
  readonly file: string
  readonly at: number
  /** Which promise was broken: then the folder is left for whoever wants to look. */
  readonly outcome: Outcome | Error
}

/** Enough pages that tables have several blocks. */
const WEB = { hosts: 20, pagesPerHost: 40, linksPerPage: 12, bytes: 2048, crossHostShare: 0.2 }
const SEEDS = 5
/** After each of these numbers of pages the crawl is killed and started again: its log then becomes a table. */
const LIVES = [150, 100, 80]

export async function damageRounds(rounds: DamageRounds): Promise<Trial[]> {
  const { random, kinds, injuries, workers } = rounds
  const web = await startWeb(WEB)
  const program = new TrialProgram()
  const place = await mkdtemp(join(tmpdir(), 'kumo-damage-'))
  const trials: Trial[] = []
  try {
    const base = join(place, 'base')
    const task = { seeds: web.seeds(SEEDS), workers, level: {} }
    const before = new Set<string>()
    for (const dieAfterPages of LIVES) {
      const deliveries = join(place, 'deliveries')
      // It dies as it was told.
      await program.ask({ ...task, folder: base, dieAfterPages, deliveries }).catch(() => {})
      for (const url of readFileSync(deliveries, 'utf8').split('\n').slice(0, -1)) before.add(url)
    }
    const control = join(place, 'control')
    cpSync(base, control, { recursive: true })
    const { first } = await program.ask({ ...task, folder: control, inspects: true })
    const whole: Whole = { before, rest: new Set(first.pages) }
    if (before.size + whole.rest.size !== web.totalPages || first.pages.some((url) => before.has(url)))
      throw new Error(
        `a crawl without damage has ${before.size} + ${whole.rest.size} of ${web.totalPages} pages`,
      )
    for (const kind of kinds) {
      for (const injury of injuries) {
        for (let i = 0; i < 2 * rounds.trials; i++) {
          const repairs = i % 2 === 1
          const folder = join(place, `trial-${trials.length}`)
          cpSync(base, folder, { recursive: true })
          const files = readdirSync(folder).filter((name) => KINDS[kind].test(name))
          const file = files[Math.floor(random.next() * files.length)]!
          const at = INJURIES[injury](join(folder, file), random)
          let outcome: Trial['outcome']
          try {
            const answer = await program.ask({ ...task, folder, level: { repair: repairs }, inspects: true })
            outcome = judge(answer, repairs, whole)
            await rm(folder, { recursive: true })
          } catch (error) {
            outcome = new Error(`${folder}: ${(error as Error).message}`)
          }
          const trial = { kind, injury, repairs, file, at, outcome }
          trials.push(trial)
          rounds.onTrial?.(trial)
        }
      }
    }
    // What a broken promise has left stays, to be looked at.
    if (!trials.some(({ outcome }) => outcome instanceof Error)) await rm(place, { recursive: true })
    return trials
  } finally {
    await program.close()
    await web.close()
  }
}
