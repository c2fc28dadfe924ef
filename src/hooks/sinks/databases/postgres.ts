import { invalidOption, KumoError, messageOf, optionError } from '../../../errors.js'
import type { RejectedItem } from '../contract.js'
import { type DocumentSinkOptions, documentMaker, lastOfEach, type PlacedItem } from '../documents.js'
import { loadDriver } from '../driver.js'
import type { DocumentRecord } from '../record.js'
import { type SinkHook, sink } from '../sink.js'
import { COLUMNS, tableName, updates } from './columns.js'

/** Options of `postgres()`. */
export interface PostgresOptions extends DocumentSinkOptions {
  /** The table, created if it is missing: `'pages'`, `'crawl.pages'`. Default `'pages'`. */
  readonly table?: string | undefined
}

/** What is used of `pg`. */
interface Client {
  connect(): Promise<void>
  query(text: string, values?: unknown[]): Promise<unknown>
  end(): Promise<void>
  on(event: 'error', listener: (error: unknown) => void): void
}
interface Driver {
  readonly Client: new (config: object) => Client
}

/** A server that does not answer must not hold the crawl forever. What the user gives comes first. */
const PATIENCE = { connectionTimeoutMillis: 10_000, query_timeout: 120_000 }

const TYPES: Readonly<Record<string, string>> = {
  id: 'text PRIMARY KEY',
  status: 'integer NOT NULL',
  fetched_at: 'timestamptz NOT NULL',
  depth: 'integer NOT NULL',
  data: 'jsonb NOT NULL',
}

/**
 * Keeps one row for each page in a table of PostgreSQL, written in batches of one statement. A page that is visited again
 * replaces its row; a page that is unchanged or gone keeps its content, and its row says so. Needs the package `pg`.
 *
 * `connection` is a URL, or an object that `pg` takes. Without a password it uses what `pg` finds in the environment.
 *
 * @example
 * await new Crawler()
 *   .seeds('https://example.com/')
 *   .store(level('./crawl'))
 *   .use(postgres('postgres://localhost/crawl', { table: 'pages' }))
 *   .run()
 */
export function postgres(connection: string | object, options: PostgresOptions = {}): SinkHook {
  const config = configOf(connection)
  const record = documentMaker('postgres', options, ['table'])
  const { table: given = 'pages', ...rest } = options
  const table = tableName('postgres.table', given)
  const server = new Server(config)
  const statement = insertInto(table)
  const writeRows = (items: readonly PlacedItem<DocumentRecord>[]) =>
    server.query(
      statement,
      COLUMNS.map(([, field]) => items.map(({ record }) => record[field])),
    )
  return sink<DocumentRecord>({
    ...rest,
    name: `postgres ${given}`,
    record,
    async open() {
      server.load()
      await server.query(create(table)).catch((error) => {
        // Two programs that create it at the same time.
        if (!ALREADY_THERE.has(codeOf(error))) throw openError(given, error)
      })
    },
    async write(batch) {
      const items = lastOfEach(batch)
      try {
        await writeRows(items)
        return []
      } catch (error) {
        if (!isAboutValues(error)) throw error
        return items.length === 1 ? [rejected(items[0]!, error)] : oneByOne(items)
      }
    },
    close: () => server.close(),
  })

  /** Finds the rows that the database refuses. */
  async function oneByOne(items: readonly PlacedItem<DocumentRecord>[]): Promise<RejectedItem[]> {
    const found: RejectedItem[] = []
    for (const item of items) {
      try {
        await writeRows([item])
      } catch (error) {
        if (!isAboutValues(error)) throw error
        found.push(rejected(item, error))
      }
    }
    return found
  }
}

/** A connection that is made when it is needed, and again after it broke. */
class Server {
  readonly #config: object
  #driver: Driver | undefined = undefined
  #client: Promise<Client> | undefined = undefined

  constructor(config: object) {
    this.#config = config
  }

  /** @throws KumoError `KUMO_NOT_INSTALLED` */
  load(): void {
    this.#driver ??= loadDriver('postgres', 'pg', (require) => require('pg')) as Driver
  }

  async query(text: string, values?: unknown[]): Promise<void> {
    const client = await this.#connected()
    try {
      await client.query(text, values)
    } catch (error) {
      if (!isAboutValues(error)) await this.close()
      throw error
    }
  }

  #connected(): Promise<Client> {
    this.#client ??= this.#connect().catch((error) => {
      this.#client = undefined
      throw error
    })
    return this.#client
  }

  async #connect(): Promise<Client> {
    this.load()
    const client = new this.#driver!.Client({ ...PATIENCE, ...this.#config })
    client.on('error', () => {
      // The server ended the connection while nothing was asked of it.
      this.#client = undefined
    })
    await client.connect()
    return client
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined)
    this.#client = undefined
    await client?.end().catch(() => {})
  }
}

function create(table: string): string {
  const columns = COLUMNS.map(([column]) => `${column} ${TYPES[column] ?? 'text NOT NULL'}`)
  return `CREATE TABLE IF NOT EXISTS ${table} (${columns.join(', ')})`
}

/** One array for each column, so that a batch of any size is one statement with the same text. */
function insertInto(table: string): string {
  const names = COLUMNS.map(([column]) => column).join(', ')
  const given = COLUMNS.map((_, index) => `$${index + 1}::text[]`).join(', ')
  const cast = COLUMNS.map(([column]) => `t.${column}${CASTS[column] ?? ''}`).join(', ')
  return (
    `INSERT INTO ${table} AS kept (${names}) SELECT ${cast} FROM unnest(${given}) AS t (${names}) ` +
    `ON CONFLICT (id) DO UPDATE SET ${updates('kept')}`
  )
}

const CASTS: Readonly<Record<string, string>> = {
  status: '::integer',
  fetched_at: '::timestamptz',
  depth: '::integer',
  data: '::jsonb',
}

/** duplicate_table, and unique_violation in the catalog. */
const ALREADY_THERE: ReadonlySet<string> = new Set(['42P07', '23505'])

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' ? code : ''
}

/** Data exception, integrity constraint, program limit exceeded, null where none may be: repeating changes nothing. */
function isAboutValues(error: unknown): boolean {
  return /^(22|23|54)[0-9A-Z]{3}$/.test(codeOf(error))
}

function rejected({ index }: PlacedItem<DocumentRecord>, error: unknown): RejectedItem {
  return { index, reason: `PostgreSQL ${codeOf(error)}: ${messageOf(error)}` }
}

function openError(table: string, cause: unknown): KumoError {
  if (cause instanceof KumoError) return cause
  const message = `postgres: the table '${table}' cannot be used: ${messageOf(cause) || codeOf(cause)}`
  return new KumoError('KUMO_SINK_FAILED', message, { cause })
}

/** Messages must not show a password. */
function configOf(connection: unknown): object {
  if (typeof connection === 'object' && connection !== null) return connection
  if (typeof connection !== 'string')
    throw invalidOption(
      'postgres',
      connection,
      'a URL such as postgres://localhost/crawl, or an object for pg',
    )
  if (!/^postgres(ql)?:\/\//.test(connection))
    throw optionError('postgres', 'a text that is not a URL of PostgreSQL', 'postgres://user@host/database')
  return { connectionString: connection }
}
