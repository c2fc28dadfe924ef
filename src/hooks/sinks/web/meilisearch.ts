import { KumoError } from '../../../errors.js'
import type { Clock } from '../../../time.js'
import type { RejectedItem } from '../contract.js'
import { type DocumentSinkOptions, documentMaker, lastOfEach, type PlacedItem } from '../documents.js'
import type { DocumentRecord } from '../record.js'
import { text } from '../settings.js'
import { type SinkHook, sink } from '../sink.js'
import { WebClient, webAddress } from './client.js'

/** Options of `meilisearch()`. */
export interface MeilisearchOptions extends DocumentSinkOptions {
  /** The index. It is created by the server if it is missing. Default `'pages'`. */
  readonly index?: string | undefined
  /** A key that may add and delete documents and read tasks. */
  readonly key?: string | undefined
}

/** The part of a task that matters. */
interface Task {
  readonly taskUid?: number
  readonly status?: string
  readonly error?: { readonly message?: string; readonly type?: string } | null
}

const FIRST_LOOK_MS = 20
const LONGEST_LOOK_MS = 1000
const ACCEPTED = 202
const NDJSON = 'application/x-ndjson'

/**
 * Keeps one document for each page in an index of Meilisearch. A batch counts as written when the server has finished its
 * task. A page that is gone is deleted; one that is unchanged keeps its content.
 *
 * @example
 * const index = meilisearch('http://localhost:7700', { index: 'docs', key: process.env.MEILI_KEY ?? '' })
 * await new Crawler().seeds('https://example.com/').use(index).run()
 */
export function meilisearch(url: string | URL, options: MeilisearchOptions = {}): SinkHook {
  const record = documentMaker('meilisearch', options, ['index', 'key'])
  const { index = 'pages', key, ...rest } = options
  text('meilisearch.index', index, 'the name of an index')
  if (key !== undefined) text('meilisearch.key', key, 'a text')
  const { base } = webAddress('meilisearch', url)
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const documents = `/indexes/${encodeURIComponent(index)}/documents`
  let tasks: Tasks | undefined
  return sink<DocumentRecord>({
    ...rest,
    name: `meilisearch ${index}`,
    record,
    open({ clock }) {
      tasks = new Tasks(new WebClient('meilisearch', base, headers, clock), clock)
    },
    async write(batch) {
      const items = lastOfEach(batch)
      const gone = items.filter(({ change }) => change === 'gone')
      const unchanged = items.filter(({ change }) => change === 'unchanged')
      const full = items.filter(({ change }) => change === 'new' || change === 'changed')
      const rejected: RejectedItem[] = []
      if (full.length > 0)
        rejected.push(...(await tasks!.run('POST', `${documents}?primaryKey=id`, lines(full, whole), full)))
      if (unchanged.length > 0)
        rejected.push(
          ...(await tasks!.run('PUT', `${documents}?primaryKey=id`, lines(unchanged, visit), unchanged)),
        )
      if (gone.length > 0) {
        const ids = JSON.stringify(gone.map(({ id }) => id))
        rejected.push(
          ...(await tasks!.run('POST', `${documents}/delete-batch`, ids, gone, 'application/json')),
        )
      }
      return rejected
    },
  })
}

function whole({ record: { data, ...fields } }: PlacedItem<DocumentRecord>): object {
  return { ...fields, data: JSON.parse(data) }
}

/** A PUT changes these fields and leaves the others. */
function visit({ record: { id, status, change, fetchedAt } }: PlacedItem<DocumentRecord>): object {
  return { id, status, change, fetchedAt }
}

function lines(
  items: readonly PlacedItem<DocumentRecord>[],
  of: (item: PlacedItem<DocumentRecord>) => object,
): string {
  return items.map((item) => `${JSON.stringify(of(item))}\n`).join('')
}

/** Requests that the server answers with a task. */
class Tasks {
  readonly #client: WebClient
  readonly #clock: Clock

  constructor(client: WebClient, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  /** All items are rejected if the server refuses the task because of what is in it. */
  async run(
    method: string,
    path: string,
    body: string,
    items: readonly PlacedItem<DocumentRecord>[],
    type = NDJSON,
  ): Promise<RejectedItem[]> {
    const answer = await this.#client.send(path, { method, body, type })
    if (answer.status !== ACCEPTED) throw this.#client.refused(answer)
    const { taskUid } = JSON.parse(answer.body) as Task
    const { status, error } = await this.#finished(taskUid!)
    if (status === 'succeeded') return []
    const reason = `task ${taskUid} ${status}: ${error?.message ?? 'no reason given'}`
    if (error?.type !== 'invalid_request') throw new KumoError('KUMO_SINK_FAILED', `meilisearch: ${reason}`)
    return items.map(({ index }) => ({ index, reason }))
  }

  async #finished(uid: number): Promise<Task> {
    for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 2, LONGEST_LOOK_MS)) {
      const answer = await this.#client.send(`/tasks/${uid}`, { method: 'GET' })
      if (answer.status !== 200) throw this.#client.refused(answer)
      const task = JSON.parse(answer.body) as Task
      if (task.status !== 'enqueued' && task.status !== 'processing') return task
      await new Promise<void>((resolve) => this.#clock.wakeAt(this.#clock.now() + pause, resolve))
    }
  }
}
