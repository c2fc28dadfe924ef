/** The database of a graph: LevelDB with keys of a letter and a number. */

import { mkdir, realpath } from 'node:fs/promises'
import type { Level } from 'level'
import { KumoError, messageOf } from '../../errors.js'
import { require } from '../../require.js'

/** `u` blocks of URLs, `p` visited URLs, `a` texts of links, `i` incoming links, `r` ranks, `c` a rank that is being computed, `m` facts. */
export type Kind = 'u' | 'p' | 'a' | 'i' | 'r' | 'c' | 'm'

export interface Put {
  readonly key: Uint8Array
  /** Null: remove the key. */
  readonly value: Uint8Array | null
}

export interface GraphBatch {
  /** Copies both. A value of null removes the key. */
  put(key: Uint8Array, value: Uint8Array | null): void
  /** Call it once. */
  write(): Promise<void>
}

const KEY_BYTES = 5
const VIEW = { keyEncoding: 'view', valueEncoding: 'view' } as const
/** Larger than LevelDB's default: a graph is written in bulk. */
const WRITE_BUFFER_BYTES = 32 * 2 ** 20
const BLOCK_BYTES = 16_384
const OPEN_FILES = 200
const READ_AT_ONCE = 1000

/** Keys sort by kind, then by number. */
export function keyOf(kind: Kind, number: number): Buffer {
  return setKey(Buffer.allocUnsafe(KEY_BYTES), kind, number)
}

/** The same in memory that is used again. */
export function setKey(key: Buffer, kind: Kind, number: number): Buffer {
  key[0] = kind.charCodeAt(0)
  key[1] = number >>> 24
  key[2] = number >>> 16
  key[3] = number >>> 8
  key[4] = number
  return key
}

export function numberOf(key: Uint8Array): number {
  return ((key[1]! << 24) | (key[2]! << 16) | (key[3]! << 8) | key[4]!) >>> 0
}

export class GraphDatabase {
  readonly #level: Level<Uint8Array, Uint8Array>
  readonly path: string

  private constructor(path: string, level: Level<Uint8Array, Uint8Array>) {
    this.path = path
    this.#level = level
  }

  /** @throws KumoError `KUMO_STORE_LOCKED` if another program has it open. */
  static async open(path: string): Promise<GraphDatabase> {
    const { Level } = require('level') as typeof import('level')
    try {
      await mkdir(path, { recursive: true })
      const level = new Level<Uint8Array, Uint8Array>(await realpath(path), {
        ...VIEW,
        writeBufferSize: WRITE_BUFFER_BYTES,
        blockSize: BLOCK_BYTES,
        maxOpenFiles: OPEN_FILES,
      })
      await level.open()
      return new GraphDatabase(path, level)
    } catch (error) {
      throw openError(path, error)
    }
  }

  /** All or nothing. */
  async write(puts: readonly Put[]): Promise<void> {
    const batch = this.batch()
    for (const { key, value } of puts) batch.put(key, value)
    await batch.write()
  }

  /** Entries that are collected and then written, all or nothing. */
  batch(): GraphBatch {
    const batch = this.#level.batch()
    return {
      put(key, value) {
        if (value === null) batch.del(key)
        else batch.put(key, value)
      },
      write: () => this.#call(() => batch.write()),
    }
  }

  get(kind: Kind, number: number): Promise<Uint8Array | undefined> {
    return this.#call(() => this.#level.get(keyOf(kind, number)))
  }

  getMany(kind: Kind, numbers: readonly number[]): Promise<(Uint8Array | undefined)[]> {
    return this.#call(() => this.#level.getMany(numbers.map((number) => keyOf(kind, number))))
  }

  /** All entries of a kind, in order, some at a time. */
  async *scan(kind: Kind, from = 0): AsyncGenerator<[key: Uint8Array, value: Uint8Array][]> {
    const end = Buffer.from([kind.charCodeAt(0) + 1])
    const iterator = this.#level.iterator({ gte: keyOf(kind, from), lt: end, highWaterMarkBytes: 2 ** 20 })
    try {
      for (;;) {
        const entries = await this.#call(() => iterator.nextv(READ_AT_ONCE))
        if (entries.length === 0) return
        yield entries
      }
    } finally {
      await iterator.close()
    }
  }

  async removeAll(kind: Kind): Promise<void> {
    const end = Buffer.from([kind.charCodeAt(0) + 1])
    await this.#call(() => this.#level.clear({ gte: keyOf(kind, 0), lt: end }))
  }

  async close(): Promise<void> {
    await this.#level.close()
  }

  async #call<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      throw failed(this.path, error)
    }
  }
}

function causes(error: unknown): { code: unknown; message: string }[] {
  const found: { code: unknown; message: string }[] = []
  for (let at = error; at instanceof Error; at = at.cause)
    found.push({ code: (at as { code?: unknown }).code, message: at.message })
  return found
}

function openError(path: string, error: unknown): KumoError {
  if (causes(error).some(({ code }) => code === 'LEVEL_LOCKED')) {
    const message = `the link graph in ${path} is open in another program; wait until it ends, or choose another folder`
    return new KumoError('KUMO_STORE_LOCKED', message, { cause: error })
  }
  return failed(path, error)
}

function failed(path: string, error: unknown): KumoError {
  if (error instanceof KumoError) return error
  const all = causes(error)
  const reason = all.at(-1)?.message ?? messageOf(error)
  const isDamage = all.some(({ code, message }) => code === 'LEVEL_CORRUPTION' || /^Corruption/.test(message))
  return new KumoError(
    isDamage ? 'KUMO_STORE_DAMAGED' : 'KUMO_STORE_FAILED',
    `the link graph in ${path}: ${reason}`,
    { cause: error },
  )
}
