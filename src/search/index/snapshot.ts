/**
 * What a reader sees: the committed segments of all shards. It is replaced when a manifest has changed; segments that are
 * still there stay open. Files may disappear between reading a manifest and opening them, because a merge replaced them:
 * then the manifest is read again.
 */

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { KumoError } from '../../errors.js'
import type { IndexStats } from '../contract.js'
import { damaged } from '../segment/checked-file.js'
import { Segment } from '../segment/segment.js'
import { MANIFEST, type Manifest, readManifest, type Settings } from './manifest.js'
import type { LiveSegment } from './state.js'

const SHARD = /^shard-\d{1,4}$/
const MOST_ATTEMPTS = 20

export interface Snapshot {
  /** Changes with every commit. */
  readonly version: string
  readonly settings: Settings
  readonly languages: readonly string[]
  readonly segments: readonly LiveSegment[]
}

/** Follows the commits of an index. */
export class Snapshots {
  readonly #folder: string
  #current: Snapshot | undefined
  /** Open segments by path. */
  #open = new Map<string, Segment>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The latest state. @throws KumoError `KUMO_INDEX_DAMAGED`, `KUMO_INDEX_MISMATCH`, `KUMO_INDEX_FAILED` */
  latest(): Snapshot {
    for (let attempt = 0; ; attempt++) {
      const shards = shardsOf(this.#folder)
      const version = versionOf(shards)
      if (this.#current?.version === version) return this.#current
      const snapshot = this.#read(shards, version, attempt === MOST_ATTEMPTS)
      if (snapshot === undefined) continue
      this.#current = snapshot
      return snapshot
    }
  }

  close(): void {
    for (const segment of this.#open.values()) segment.close()
    this.#open.clear()
    this.#current = undefined
  }

  /** Undefined if a file was missing, because a commit came in between. */
  #read(shards: readonly string[], version: string, isLast: boolean): Snapshot | undefined {
    const open = new Map<string, Segment>()
    const segments: LiveSegment[] = []
    const manifests: Manifest[] = []
    try {
      for (const shard of shards) {
        const manifest = readManifest(shard)
        if (manifest === undefined) continue
        manifests.push(manifest)
        for (const { name, size, deleted, deletedRecords, deletedPages } of manifest.segments) {
          const path = join(shard, name)
          const segment = this.#open.get(path) ?? new Segment(path)
          open.set(path, segment)
          if (segment.file.size !== size)
            throw damaged(path, `it has ${segment.file.size} bytes, not ${size}`)
          segments.push({ segment, deleted, deletedRecords, deletedPages })
        }
      }
    } catch (error) {
      for (const [path, segment] of open) if (!this.#open.has(path)) segment.close()
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      if (isLast) throw damaged((error as NodeJS.ErrnoException).path ?? this.#folder, 'it is missing')
      return undefined
    }
    const [first] = manifests
    if (first === undefined) throw noIndex(this.#folder)
    for (const { settings } of manifests) assertSame(this.#folder, first.settings, settings)
    for (const [path, segment] of this.#open) if (!open.has(path)) segment.close()
    this.#open = open
    const languages = [...new Set(manifests.flatMap((manifest) => manifest.languages))]
    return { version, settings: first.settings, languages, segments }
  }
}

function shardsOf(folder: string): string[] {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw noIndex(folder)
    throw new KumoError('KUMO_INDEX_FAILED', `${folder} cannot be read: ${String(error)}`, { cause: error })
  }
  return names
    .filter((name) => SHARD.test(name))
    .sort((a, b) => Number(a.slice(6)) - Number(b.slice(6)))
    .map((name) => join(folder, name))
}

function versionOf(shards: readonly string[]): string {
  return shards
    .map((shard) => {
      const stat = statSync(join(shard, MANIFEST), { throwIfNoEntry: false, bigint: true })
      return stat === undefined ? '' : `${stat.ino}.${stat.mtimeNs}.${stat.size}`
    })
    .join(' ')
}

function noIndex(folder: string): KumoError {
  const message = `${folder} has no search index; create one with openWriter(), searchIndex() or 'kumo index'`
  return new KumoError('KUMO_INDEX_FAILED', message)
}

function assertSame(folder: string, one: Settings, other: Settings): void {
  if (JSON.stringify(one) === JSON.stringify(other)) return
  const message = `the shards of ${folder} were created with different settings; index again into another folder`
  throw new KumoError('KUMO_INDEX_MISMATCH', message)
}

export function statsOf(segments: readonly LiveSegment[]): IndexStats {
  const sum = (of: (live: LiveSegment) => number) => segments.reduce((total, live) => total + of(live), 0)
  return {
    documents: sum(({ segment, deletedPages }) => segment.pages - deletedPages),
    sections: sum(({ segment, deletedRecords }) => segment.records - deletedRecords),
    segments: segments.length,
    bytes: sum(({ segment }) => segment.file.size),
    deleted: sum(({ deletedRecords }) => deletedRecords),
  }
}
