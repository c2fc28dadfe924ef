/** Reads the list of tables (`MANIFEST-*`): a log of changes that determines which files make up the database. */

import { ByteReader } from './bytes.js'
import { readLog } from './log.js'
import { userKey } from './table.js'

/** The kinds of fields in a change. */
const COMPARATOR = 1
const LOG_NUMBER = 2
const NEXT_FILE = 3
const LAST_SEQUENCE = 4
const COMPACT_POINTER = 5
const DELETED_FILE = 6
const NEW_FILE = 7
const PREVIOUS_LOG = 9

/** A table according to the list. */
export interface ListedTable {
  readonly number: number
  readonly bytes: number
  readonly smallest: Uint8Array
  readonly largest: Uint8Array
}

export interface TableList {
  readonly tables: readonly ListedTable[]
  /** Logs from this number on are not in tables yet. */
  readonly log: number
  /** An earlier log that is not in tables yet either; 0 if there is none. */
  readonly previousLog: number
}

/** Throws if it is not completely readable. A last change that is incomplete was never made. */
export function readManifest(file: Uint8Array): TableList {
  const { records, holes, end } = readLog(file)
  const hole = holes[0]
  if (hole !== undefined) throw new Error(`it cannot be read at byte ${hole.at}`)
  if (end === 'unreadable') throw new Error('its end cannot be read')
  const tables = new Map<string, ListedTable>()
  const numbers = new Map<number, number>()
  for (const record of records) apply(new ByteReader(record), tables, numbers)
  if (![NEXT_FILE, LOG_NUMBER, LAST_SEQUENCE].every((kind) => numbers.has(kind)))
    throw new Error('its beginning is missing')
  return {
    tables: [...tables.values()],
    log: numbers.get(LOG_NUMBER)!,
    previousLog: numbers.get(PREVIOUS_LOG) ?? 0,
  }
}

/** Tables are identified by level and number: a table that moves to another level is deleted there and added here. */
function apply(change: ByteReader, tables: Map<string, ListedTable>, numbers: Map<number, number>): void {
  // LevelDB applies deletions first, whatever the order in the record.
  const added: [string, ListedTable][] = []
  while (!change.isAtEnd) {
    const kind = change.varint()
    switch (kind) {
      case COMPARATOR:
        piece(change)
        break
      case LOG_NUMBER:
      case NEXT_FILE:
      case LAST_SEQUENCE:
      case PREVIOUS_LOG:
        numbers.set(kind, change.varint())
        break
      case COMPACT_POINTER:
        change.varint()
        piece(change)
        break
      case DELETED_FILE:
        tables.delete(`${change.varint()} ${change.varint()}`)
        break
      case NEW_FILE: {
        const level = change.varint()
        const number = change.varint()
        const bytes = change.varint()
        const [smallest, largest] = [userKey(piece(change)), userKey(piece(change))]
        added.push([`${level} ${number}`, { number, bytes, smallest, largest }])
        break
      }
      default:
        throw new Error('it contains an unknown kind of change')
    }
  }
  for (const [name, table] of added) tables.set(name, table)
}

function piece(reader: ByteReader): Uint8Array {
  return reader.piece(reader.varint())
}
