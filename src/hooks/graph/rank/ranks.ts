import { Worker } from 'node:worker_threads'
import { invalidOption, KumoError, messageOf } from '../../../errors.js'
import type { Clock } from '../../../time.js'
import type { RankOptions, RankSummary } from '../contract.js'
import { type GraphDatabase, type Kind, keyOf, numberOf, type Put } from '../database.js'
import { type FromRank, type RankTask, rankWork, type ToRank } from './rank-work.js'

const DAMPING = 0.85
const TOLERANCE = 1e-9
const ITERATIONS = 200
/** Ranks in an entry of the database. */
const CHUNK = 65_536
const BLOCK_BYTES = 4 * 2 ** 20
/** What an interrupted computation repeats, at most. */
const SAVE_EVERY_MS = 5000
/** The fact about a computation that was interrupted. */
const FACT = 2

/** The prelude is for compilers that wrap functions to keep their names. */
const PROGRAM = `const __name = (f) => f; const { parentPort, workerData } = require('node:worker_threads'); (${String(rankWork)})(workerData, parentPort)`

/**
 * Computes the rank of every URL in a thread of its own, and keeps the result in the graph. Every few seconds it saves how
 * far it is, so that an interrupted computation goes on from there.
 */
export class Ranks {
  readonly #database: GraphDatabase
  readonly #clock: Clock

  constructor(database: GraphDatabase, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  async compute(size: number, options: RankOptions): Promise<RankSummary> {
    const { damping = DAMPING, tolerance = TOLERANCE, iterations = ITERATIONS, signal } = options
    if (!(damping > 0 && damping < 1))
      throw invalidOption('rank.damping', damping, 'a number between 0 and 1')
    if (!(tolerance > 0)) throw invalidOption('rank.tolerance', tolerance, 'a number above 0')
    if (!(Number.isInteger(iterations) && iterations > 0))
      throw invalidOption('rank.iterations', iterations, 'a whole number, 1 or more')
    if (size === 0) return { iterations: 0, change: 0, resumedAt: 0 }
    const saved = await this.#saved(size, damping)
    const task: RankTask = {
      size,
      damping,
      tolerance,
      iterations,
      start: saved?.ranks,
      done: saved?.iteration ?? 0,
    }
    const summary = await this.#run(task, damping, signal)
    await this.#database.removeAll('c')
    await this.#database.write([{ key: keyOf('m', FACT), value: null }])
    return { ...summary, resumedAt: task.done }
  }

  /** By number; undefined if they were not computed yet. */
  async read(): Promise<Float64Array | undefined> {
    return this.#readChunks('r')
  }

  async #run(
    task: RankTask,
    damping: number,
    signal: AbortSignal | undefined,
  ): Promise<Pick<RankSummary, 'iterations' | 'change'>> {
    const worker = new Worker(PROGRAM, { eval: true, workerData: task, name: 'kumo rank' })
    const post = (message: ToRank, transfer: ArrayBuffer[] = []) => worker.postMessage(message, transfer)
    try {
      return await new Promise((resolve, reject) => {
        let savedAt = this.#clock.now()
        worker.on('error', (error) =>
          reject(
            new KumoError('KUMO_WORKER_FAILED', `the computation of ranks failed: ${messageOf(error)}`, {
              cause: error,
            }),
          ),
        )
        worker.on('message', ({ iteration, change, isDone, ranks }: FromRank) => {
          if (isDone) {
            this.#writeChunks('r', ranks!).then(() => resolve({ iterations: iteration, change }), reject)
          } else if (ranks !== undefined) {
            this.#save(task.size, damping, iteration, ranks).catch(reject)
          } else if (signal?.aborted) {
            reject(signal.reason)
          } else {
            const isTime = this.#clock.now() - savedAt >= SAVE_EVERY_MS
            if (isTime) savedAt = this.#clock.now()
            post({ next: isTime ? 'save' : 'go on' })
          }
        })
        this.#sendBlocks(post).catch(reject)
      })
    } finally {
      await worker.terminate()
    }
  }

  async #sendBlocks(post: (message: ToRank, transfer?: ArrayBuffer[]) => void): Promise<void> {
    let block = new Uint8Array(BLOCK_BYTES)
    let filled = 0
    const send = () => {
      const bytes = block.slice(0, filled)
      post({ block: bytes }, [bytes.buffer])
      filled = 0
    }
    for await (const entries of this.#database.scan('p')) {
      for (const [key, value] of entries) {
        const needed = value.length + 8
        if (filled + needed > block.length) {
          send()
          if (needed > block.length) block = new Uint8Array(2 * needed)
        }
        const view = new DataView(block.buffer)
        view.setUint32(filled, numberOf(key))
        view.setUint32(filled + 4, value.length)
        block.set(value, filled + 8)
        filled += needed
      }
    }
    send()
    post({ block: undefined })
  }

  async #save(size: number, damping: number, iteration: number, ranks: Float64Array): Promise<void> {
    const fact = Buffer.from(JSON.stringify({ size, damping, iteration }))
    await this.#writeChunks('c', ranks, { key: keyOf('m', FACT), value: fact })
  }

  async #saved(
    size: number,
    damping: number,
  ): Promise<{ iteration: number; ranks: Float64Array } | undefined> {
    const bytes = await this.#database.get('m', FACT)
    if (bytes === undefined) return undefined
    const fact = JSON.parse(Buffer.from(bytes).toString()) as {
      size: number
      damping: number
      iteration: number
    }
    const ranks = await this.#readChunks('c')
    if (fact.size !== size || fact.damping !== damping || ranks?.length !== size) return undefined
    return { iteration: fact.iteration, ranks }
  }

  /** All in one batch: a kill leaves the old ones or the new ones. */
  async #writeChunks(kind: Kind, ranks: Float64Array, ...more: Put[]): Promise<void> {
    const puts: Put[] = []
    for (let from = 0; from < ranks.length; from += CHUNK) {
      const part = ranks.slice(from, from + CHUNK)
      puts.push({ key: keyOf(kind, from / CHUNK), value: new Uint8Array(part.buffer) })
    }
    await this.#database.write([...puts, ...more])
  }

  async #readChunks(kind: Kind): Promise<Float64Array | undefined> {
    const parts: Float64Array[] = []
    for await (const entries of this.#database.scan(kind)) {
      for (const [, value] of entries) parts.push(new Float64Array(value.slice().buffer))
    }
    if (parts.length === 0) return undefined
    const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const part of parts) {
      all.set(part, at)
      at += part.length
    }
    return all
  }
}
