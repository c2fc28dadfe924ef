/**
 * The manifest: which segments an index consists of, and what is deleted in them. It is replaced as a whole, by renaming,
 * so that a reader or a crash finds the state before a commit or the one after it.
 */

import { closeSync, fsyncSync, openSync, readFileSync, renameSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'
import { KumoError } from '../../errors.js'
import type { FieldType } from '../contract.js'
import { damaged, tooNew } from '../segment/checked-file.js'

export const MANIFEST = 'manifest.json'
/** Changes when an index written before has to be migrated, together with `MIGRATIONS`. */
const FORMAT = 1
/**
 * How to read the manifest of each older format, from 1 on, as one of the format after it. The next commit writes what was
 * read. A change of segments needs a `SEGMENT_FORMAT` of its own, and a reader for both.
 */
const MIGRATIONS: readonly ((manifest: WrittenManifest) => WrittenManifest)[] = []

/** What an index was created with. */
export interface Settings {
  readonly fields: Readonly<Record<string, FieldType>>
  /** Languages that are stemmed. */
  readonly stemming: readonly string[]
  /** Languages that the program cuts into words. */
  readonly segmenters: readonly string[]
}

export interface SegmentEntry {
  readonly name: string
  readonly size: number
  readonly records: number
  readonly pages: number
  readonly deletedRecords: number
  readonly deletedPages: number
  /** A bit for each record; undefined if none is deleted. */
  readonly deleted: Uint8Array | undefined
}

export interface Manifest {
  /** Grows by one with each commit. */
  readonly generation: number
  readonly settings: Settings
  /** Languages with analyzers of their own, in the order of their numbers. */
  readonly languages: readonly string[]
  /** The number of the next segment: names are never used twice. */
  readonly nextSegment: number
  readonly segments: readonly SegmentEntry[]
}

/** Undefined if the folder has none. @throws KumoError `KUMO_INDEX_DAMAGED`, `KUMO_INDEX_MISMATCH` */
export function readManifest(folder: string): Manifest | undefined {
  const path = join(folder, MANIFEST)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new KumoError('KUMO_INDEX_FAILED', `${path} cannot be read: ${String(error)}`, { cause: error })
  }
  const [body = '', sum = ''] = text.split('\n')
  if (sum !== checksum(body)) throw damaged(path, 'its checksum is wrong')
  let manifest = JSON.parse(body) as WrittenManifest
  if (!(manifest.format <= FORMAT)) throw tooNew(path, manifest.format, FORMAT)
  for (const migrate of MIGRATIONS.slice(manifest.format - 1)) manifest = migrate(manifest)
  const { format: _, segments, ...rest } = manifest
  return { ...rest, segments: segments.map(fromText) }
}

/** Replaces the manifest; with `sync`, waits until the disk has it. @throws the error of the file system */
export async function writeManifest(
  folder: string,
  { segments, ...rest }: Manifest,
  sync: boolean,
): Promise<void> {
  const body = JSON.stringify({ format: FORMAT, ...rest, segments: segments.map(toText) })
  const temporary = join(folder, `${MANIFEST}.new`)
  const file = await open(temporary, 'w')
  try {
    await file.writeFile(`${body}\n${checksum(body)}\n`)
    if (sync) await file.sync()
  } finally {
    await file.close()
  }
  renameSync(temporary, join(folder, MANIFEST))
  if (sync) syncFolder(folder)
}

/** Makes renames and new files of a folder durable. Windows cannot, and need not. */
function syncFolder(folder: string): void {
  try {
    const fd = openSync(folder, 'r')
    try {
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (process.platform !== 'win32') throw error
  }
}

type WrittenManifest = Omit<Manifest, 'segments'> & {
  readonly format: number
  readonly segments: readonly WrittenEntry[]
}

type WrittenEntry = Omit<SegmentEntry, 'deleted'> & { readonly deleted?: string }

function toText({ deleted, ...rest }: SegmentEntry): WrittenEntry {
  return deleted === undefined ? rest : { ...rest, deleted: deflateRawSync(deleted).toString('base64') }
}

function fromText({ deleted, ...rest }: WrittenEntry): SegmentEntry {
  return {
    ...rest,
    deleted:
      deleted === undefined ? undefined : new Uint8Array(inflateRawSync(Buffer.from(deleted, 'base64'))),
  }
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}
