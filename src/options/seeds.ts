import type { AddedSource } from '../engine/admission/added-requests.js'
import type { Seed } from '../engine/parts.js'
import { messageOf, optionError, show } from '../errors.js'
import { nextTurn } from '../time.js'
import { canonicalizeUrl } from '../url/canonicalize.js'
import { didYouMeanUrl } from '../url/meant-url.js'
import { type RequestInput, type RequestSpec, requestSpec } from '../url/request-options.js'

/** A seed, or a source of seeds. A source is read as the crawl needs it, each time the crawler runs. */
export type SeedInput = RequestInput | Iterable<RequestInput> | AsyncIterable<RequestInput>

/** A request that was checked when it was given. What the program does to its objects later has no effect. */
export class CheckedRequest {
  constructor(readonly spec: RequestSpec) {}
}

/** Seeds as the options hold them: checked, except those of sources, which are not read yet. */
export type GivenSeeds = SeedInput | CheckedRequest | readonly (string | CheckedRequest)[]

/** Seeds of a source that are admitted together: enough to spread the cost, few enough to save memory. */
const BATCH_SIZE = 1000
const ABSOLUTE_URLS = 'absolute http(s) URLs such as https://example.com/'

/**
 * Checks strings, URLs and arrays now, so that a typo throws at the line that contains it. Generators and streams are not
 * read before the crawl runs; an invalid seed from one is a `failure` event then.
 */
export function checkSeeds(inputs: readonly SeedInput[]): readonly GivenSeeds[] {
  if (inputs.length === 0) throw optionError('seeds', 'nothing', 'at least one URL')
  return inputs.map((input) => {
    if (Array.isArray(input)) {
      if (input.length === 0) throw optionError('seeds', 'an empty list', 'at least one URL')
      return input.map((each) => checkSeed(each))
    }
    return isSource(input) ? input : checkSeed(input)
  })
}

/** The canonical URLs of the seeds that are known before the crawl starts: all but those of generators and streams. */
export function* knownSeeds(inputs: readonly GivenSeeds[]): Generator<string> {
  for (const input of inputs) {
    const seeds = Array.isArray(input) ? input : isSource(input) ? [] : [input]
    for (const each of seeds) {
      const seed = toSeed(each)
      if ('url' in seed) yield seed.url
    }
  }
}

/** The seeds of one run, with their sources open. */
export interface OpenSeeds {
  readonly inputs: readonly GivenSeeds[]
  /** Closes the sources that the run has not begun to read, because it failed or was aborted first. */
  abandon(): void
}

/**
 * Opens sources at once, when a run starts. A stream of lines, for example, emits what it has read as soon as it can, and
 * lines that come while the crawl opens its store would be lost.
 */
export function openSeeds(inputs: readonly GivenSeeds[]): OpenSeeds {
  const opened: OpenSource[] = []
  const open = (source: AsyncIterable<RequestInput>) => {
    const made = new OpenSource(source)
    opened.push(made)
    return made
  }
  return {
    inputs: inputs.map((input) => (isSource(input) && isAsync(input) ? open(input) : input)),
    abandon: () => {
      for (const source of opened) source.abandon()
    },
  }
}

class OpenSource implements AsyncIterable<RequestInput> {
  readonly #iterator: AsyncIterator<RequestInput>
  #isRead = false

  constructor(source: AsyncIterable<RequestInput>) {
    this.#iterator = iteratorOf(source)
  }

  [Symbol.asyncIterator](): AsyncIterator<RequestInput> {
    this.#isRead = true
    return this.#iterator
  }

  abandon(): void {
    if (this.#isRead) return
    this.#isRead = true
    // The run is over, so nothing waits for the source, and its failure is of no interest.
    void (async () => this.#iterator.return?.())().catch(() => {})
  }
}

function iteratorOf(source: AsyncIterable<RequestInput>): AsyncIterator<RequestInput> {
  if (isClosedReadline(source)) return failing(new Error(CLOSED_READLINE))
  try {
    return source[Symbol.asyncIterator]()
  } catch (error) {
    return failing(error)
  }
}

const CLOSED_READLINE =
  'the readline interface was closed before the crawl started, so its lines are lost; ' +
  'create it right before start(), or wrap it in an async generator'

/** A closed `readline` interface never ends its iterator, and the crawl would wait for ever. */
function isClosedReadline(source: object): boolean {
  const { closed, terminal } = source as { closed?: unknown; terminal?: unknown }
  return closed === true && typeof terminal === 'boolean'
}

// biome-ignore lint/correctness/useYield: it fails before the first.
async function* failing(error: unknown): AsyncGenerator<string> {
  throw error
}

/** All seeds, in order and in batches. */
export async function* readSeeds(
  inputs: readonly GivenSeeds[],
  option = 'seeds',
): AsyncGenerator<readonly Seed[]> {
  for (const input of inputs) {
    if (!isSource(input)) yield [toSeed(input, option)]
    else if (isAsync(input)) yield* asTheyCome(input, option)
    else yield* inBatches(input, option)
  }
}

/** What `run.add()` was given: checked, with its sources open. */
export function openAdded(given: readonly SeedInput[]): AddedSource {
  const checked = given.map((input) => {
    if (Array.isArray(input)) return input.map((each) => checkSeed(each, 'run.add'))
    return isSource(input) ? input : checkSeed(input, 'run.add')
  })
  const { inputs, abandon } = openSeeds(checked)
  const batches = readSeeds(inputs, 'run.add')
  return {
    next: () => batches.next(),
    return: () => {
      abandon()
      return batches.return(undefined)
    },
  }
}

function* inBatches(source: Iterable<unknown>, option: string): Generator<readonly Seed[]> {
  let batch: Seed[] = []
  for (const seed of source) {
    batch.push(toSeed(seed, option))
    if (batch.length === BATCH_SIZE) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

/**
 * What a source yields at once is one batch, because a durable store takes its time for each. A slow source delays none
 * of its seeds: a batch ends when the source lets a turn of the event loop pass.
 */
async function* asTheyCome(
  source: AsyncIterable<unknown>,
  option: string,
): AsyncGenerator<readonly Seed[], void> {
  const iterator = source[Symbol.asyncIterator]()
  /** Never rejects: an error comes after the seeds before it. */
  const read = async () => {
    try {
      return await iterator.next()
    } catch (error) {
      return { error }
    }
  }
  let reading: ReturnType<typeof read> | undefined
  let isOver = false
  try {
    while (!isOver) {
      const batch: Seed[] = []
      let failure: { readonly error: unknown } | undefined
      let turn: Promise<undefined> | undefined
      while (!isOver && batch.length < BATCH_SIZE) {
        reading ??= read()
        const next = await (turn === undefined ? reading : Promise.race([reading, turn]))
        if (next === undefined) break
        reading = undefined
        if ('error' in next) failure = next
        else if (!next.done) batch.push(toSeed(next.value, option))
        isOver = failure !== undefined || ('done' in next && next.done === true)
        turn ??= nextTurn()
      }
      if (batch.length > 0) yield batch
      if (failure !== undefined) throw failure.error
    }
  } finally {
    const closing = isOver ? undefined : (async () => iterator.return?.())()
    // A source that is being read may be stuck, so it is not waited for.
    if (reading === undefined) await closing
    else closing?.catch(() => {})
  }
}

function isSource(input: GivenSeeds): input is Exclude<GivenSeeds, RequestInput | CheckedRequest> {
  if (typeof input !== 'object' || input === null || input instanceof URL) return false
  return Symbol.iterator in input || Symbol.asyncIterator in input
}

function isAsync(source: unknown): source is AsyncIterable<RequestInput> {
  return Symbol.asyncIterator in (source as object)
}

/** A text stays as it is, because lists of seeds may be long. */
function checkSeed(value: unknown, option = 'seeds'): string | CheckedRequest {
  if (typeof value === 'object' && value !== null && !(value instanceof URL))
    return new CheckedRequest(requestSpec(option, value))
  const seed = toSeed(value)
  if ('invalid' in seed) throw optionError(option, seed.invalid, `${ABSOLUTE_URLS}${didYouMeanUrl(value)}`)
  return String(value)
}

function toSeed(value: unknown, option = 'seeds'): Seed {
  if (value instanceof CheckedRequest) return value.spec
  const given = value instanceof URL ? value.href : value
  if (typeof given === 'object' && given !== null) return toRequest(given, option)
  const url = typeof given === 'string' ? canonicalizeUrl(given.trim()) : undefined
  if (url !== undefined) return { url, depth: 0, priority: 0 }
  const shown = show(given)
  return { invalid: shown, message: `not an absolute http(s) URL: ${shown}${didYouMeanUrl(given)}` }
}

function toRequest(given: object, option: string): Seed {
  try {
    return requestSpec(option, given)
  } catch (error) {
    const { url } = given as { readonly url?: unknown }
    return { invalid: typeof url === 'string' ? url : show(given), message: messageOf(error) }
  }
}
