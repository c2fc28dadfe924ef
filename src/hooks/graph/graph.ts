import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { invalidOption, KumoError } from '../../errors.js'
import { type Clock, systemClock } from '../../time.js'
import type {
  BrokenLink,
  GraphCounts,
  GraphFormat,
  GraphLink,
  GraphPage,
  HostLink,
  RankOptions,
  RankSummary,
} from './contract.js'
import { GraphDatabase, numberOf } from './database.js'
import { FIELD, GraphWriter, LINK } from './graph-writer.js'
import { Incoming } from './incoming.js'
import { BROKEN, decodeNode, type NodeRecord, PAGE, REDIRECT } from './node-record.js'
import { componentsOf, depthsFrom, readAdjacency, shortestPath } from './query/adjacency.js'
import { type ExportedLink, exportLinks } from './query/export.js'
import { Ranks } from './rank/ranks.js'
import { Urls } from './urls.js'

/** How a graph is opened. */
export interface GraphOptions {
  /** Keep the texts of links and their `rel`. Default true. */
  readonly texts?: boolean | undefined
}

/** Redirects that are followed to find who links to a URL. */
const MOST_REDIRECTS = 10
/** What a menu links to has a link from every page, and always the same text. */
const TEXTS_READ = 1000

/**
 * A graph of links in a folder. Open it with `openGraph()`.
 *
 * What you add is visible to questions after `flush()`. Questions that need all links (`depths`, `path`, `components`, `hosts`)
 * read them into memory: 4 bytes a link. The first question about incoming links after a change reads the graph once.
 */
export class Graph {
  readonly #database: GraphDatabase
  readonly #urls: Urls
  readonly #writer: GraphWriter
  readonly #incoming: Incoming
  readonly #ranks: Ranks
  readonly #release: () => Promise<void>
  #isOpen = true

  /** @internal */
  constructor(shared: SharedGraph, release: () => Promise<void>) {
    this.#database = shared.database
    this.#urls = shared.urls
    this.#writer = shared.writer
    this.#incoming = shared.incoming
    this.#ranks = new Ranks(shared.database, shared.clock)
    this.#release = release
  }

  /** Adds a page, or replaces it with its links. A promise if the disk is behind: wait for it before you add more. */
  add(page: GraphPage): Promise<void> | undefined {
    for (const url of [page.url, ...(page.links ?? []).map(({ url }) => url)]) {
      // Line ends separate URLs on disk.
      if (typeof url !== 'string' || /[\n\0]/.test(url) || url === '')
        throw invalidOption('graph.add: url', url, 'an absolute URL')
    }
    return this.#writer.add(page)
  }

  /** @internal */
  get writer(): GraphWriter {
    return this.#writer
  }

  /** Resolves once everything added so far would survive a kill. */
  flush(): Promise<void> {
    return this.#writer.flush()
  }

  /** How large the graph is. Reads all of it. */
  async counts(): Promise<GraphCounts> {
    const counts = { pages: 0, links: 0, broken: 0, redirects: 0 }
    for await (const { kind, links } of this.#nodes()) {
      if (kind === PAGE) {
        counts.pages++
        counts.links += links.length
      } else if (kind === BROKEN) counts.broken++
      else counts.redirects++
    }
    return { urls: this.#urls.size, ...counts }
  }

  /** The links of a page; empty if it is not known. */
  async out(url: string): Promise<GraphLink[]> {
    await this.flush()
    const id = this.#urls.find(url)
    return id < 0 ? [] : this.#linksOf(id)
  }

  /** The links to a URL; `url` of each is the page that has it. */
  async in(url: string): Promise<GraphLink[]> {
    await this.flush()
    const id = this.#urls.find(url)
    if (id < 0) return []
    const links: GraphLink[] = []
    for (const source of await this.#incoming.of(id)) {
      const link = (await this.#linksOf(source, id))[0]
      if (link !== undefined) links.push({ ...link, url: await this.#urls.one(source) })
    }
    return links
  }

  /**
   * The texts of the links to a URL, most frequent first: what others call it. Of a URL with very many links only the first
   * `most` are read, 1,000 unless you say otherwise.
   */
  async texts(url: string, most = TEXTS_READ): Promise<{ readonly text: string; readonly count: number }[]> {
    await this.flush()
    const id = this.#urls.find(url)
    const sources = id < 0 ? [] : (await this.#incoming.of(id)).slice(0, most)
    const counts = new Map<string, number>()
    for (const { text } of await this.#textsTo(id, sources))
      if (text !== '') counts.set(text, (counts.get(text) ?? 0) + 1)
    return [...counts].map(([text, count]) => ({ text, count })).sort((a, b) => b.count - a.count)
  }

  /** URLs that lead nowhere, and the pages that link to them. */
  async *broken(): AsyncGenerator<BrokenLink> {
    for await (const { id, kind, status, reason } of this.#nodes()) {
      if (kind !== BROKEN) continue
      const referrers = await this.#referrers(id, MOST_REDIRECTS)
      yield { url: await this.#urls.one(id), status, reason, referrers: await this.#urls.of(referrers) }
    }
  }

  async #referrers(id: number, redirects: number, found = new Set<number>()): Promise<Set<number>> {
    for (const source of await this.#incoming.of(id)) {
      if (found.has(source)) continue
      const node = await this.#node(source)
      if (node?.kind === REDIRECT && redirects > 0) await this.#referrers(source, redirects - 1, found)
      else found.add(source)
    }
    return found
  }

  /** Pages that no other page links to: seeds, and pages that only a sitemap lists. */
  async *orphans(): AsyncGenerator<string> {
    await this.flush()
    const counts = await this.#incoming.counts()
    for await (const { id, kind } of this.#nodes())
      if (kind === PAGE && counts[id] === 0) yield this.#urls.one(id)
  }

  /** Each URL that can be reached from these, with the number of links on the shortest way. */
  async *depths(...from: string[]): AsyncGenerator<readonly [url: string, depth: number]> {
    const graph = await this.#adjacency()
    const depths = depthsFrom(
      graph,
      from.map((url) => this.#urls.find(url)).filter((id) => id >= 0),
    )
    for await (const [id, url] of this.#urls.all()) if (depths[id]! >= 0) yield [url, depths[id]!]
  }

  /** The shortest path from one URL to another, both included; undefined if there is none. */
  async path(from: string, to: string): Promise<string[] | undefined> {
    const graph = await this.#adjacency()
    const [start, end] = [this.#urls.find(from), this.#urls.find(to)]
    const path = start < 0 || end < 0 ? undefined : shortestPath(graph, start, end)
    return path && this.#urls.of(path)
  }

  /** Strongly connected components with more than one URL, largest first: from each of its URLs one can get to each other. */
  async components(): Promise<string[][]> {
    const component = componentsOf(await this.#adjacency())
    const members = new Map<number, number[]>()
    for (const [id, each] of component.entries()) {
      const known = members.get(each)
      if (known === undefined) members.set(each, [id])
      else known.push(id)
    }
    const large = [...members.values()].filter(({ length }) => length > 1).sort((a, b) => b.length - a.length)
    return Promise.all(large.map((ids) => this.#urls.of(ids)))
  }

  /** Links between hosts, most first. Links inside of a host do not count. */
  async hosts(): Promise<HostLink[]> {
    const graph = await this.#adjacency()
    const { names, hostOf } = await this.#hostNames()
    const counts = new Map<number, number>()
    for (let id = 0; id < hostOf.length; id++) {
      for (let i = graph.starts[id]!; i < graph.starts[id + 1]!; i++) {
        const to = hostOf[graph.targets[i]!]!
        if (to === hostOf[id]) continue
        const key = hostOf[id]! * names.length + to
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
    }
    return [...counts]
      .map(([key, links]) => ({
        from: names[Math.floor(key / names.length)]!,
        to: names[key % names.length]!,
        links,
      }))
      .sort((a, b) => b.links - a.links)
  }

  /** Computes the rank of each URL (PageRank) in a thread of its own, and keeps it in the graph. */
  async rank(options: RankOptions = {}): Promise<RankSummary> {
    await this.flush()
    return this.#ranks.compute(this.#urls.size, options)
  }

  /** The URLs with the highest ranks. Empty if `rank()` was never called. */
  async top(count: number): Promise<{ readonly url: string; readonly rank: number }[]> {
    const ranks = (await this.#ranks.read()) ?? new Float64Array(0)
    const ids = Array.from(ranks.keys())
      .sort((a, b) => ranks[b]! - ranks[a]!)
      .slice(0, count)
    return Promise.all(ids.map(async (id) => ({ url: await this.#urls.one(id), rank: ranks[id]! })))
  }

  /** Ranks of hosts: the sum of those of their URLs, highest first. */
  async hostRanks(): Promise<{ readonly host: string; readonly rank: number }[]> {
    const ranks = (await this.#ranks.read()) ?? new Float64Array(0)
    const { names, hostOf } = await this.#hostNames()
    const sums = new Float64Array(names.length)
    for (const [id, rank] of ranks.entries()) sums[hostOf[id]!]! += rank
    return names.map((host, i) => ({ host, rank: sums[i]! })).sort((a, b) => b.rank - a.rank)
  }

  /** A function that knows the ranks; undefined for a URL without one. */
  async ranks(): Promise<(url: string) => number | undefined> {
    const ranks = await this.#ranks.read()
    return (url) => {
      const id = ranks === undefined ? -1 : this.#urls.find(url)
      return id < 0 ? undefined : ranks![id]
    }
  }

  /** @internal */
  readRanks(): Promise<Float64Array | undefined> {
    return this.#ranks.read()
  }

  /** @internal The fingerprints of all URLs by their numbers, two words each. */
  fingerprints(): Uint32Array {
    return this.#urls.fingerprints()
  }

  /** @internal 1 for each number whose URL was visited. */
  async visited(): Promise<Uint8Array> {
    await this.flush()
    const visited = new Uint8Array(this.#urls.size)
    for await (const entries of this.#database.scan('p'))
      for (const [key] of entries) visited[numberOf(key)] = 1
    return visited
  }

  /** The graph as text, in pieces: GraphML, DOT, or CSV. */
  async *export(format: GraphFormat): AsyncGenerator<string> {
    if (!['graphml', 'dot', 'csv'].includes(format))
      throw invalidOption('export', format, "'graphml', 'dot' or 'csv'")
    await this.flush()
    yield* exportLinks(format, this.urls(), this.#allLinks())
  }

  /** All URLs of the graph, in the order in which they were found. */
  async *urls(): AsyncGenerator<string> {
    await this.flush()
    for await (const [, url] of this.#urls.all()) yield url
  }

  /** Takes over another graph, for example of another machine. Of a page that is in both, the later visit counts. */
  async merge(other: Graph): Promise<void> {
    await this.flush()
    await other.flush()
    for await (const { id, kind, status, seenAt, reason } of other.#nodes()) {
      const url = await other.#urls.one(id)
      const mine = await this.#node(this.#urls.find(url))
      if (mine !== undefined && mine.seenAt >= seenAt) continue
      const links = await other.#linksOf(id)
      if (kind === PAGE) await this.#writer.add({ url, status, seenAt: seenAt * 1000, links })
      else if (kind === BROKEN) await this.#writer.drop(url, status, reason, seenAt * 1000)
      else await this.#writer.redirect(url, links[0]!.url, status, seenAt * 1000)
    }
    await this.flush()
  }

  /** A second call does nothing. */
  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    try {
      await this.flush()
    } finally {
      await this.#release()
    }
  }

  async #adjacency() {
    await this.flush()
    return readAdjacency(this.#database, this.#urls.size)
  }

  async #hostNames(): Promise<{ names: string[]; hostOf: Uint32Array }> {
    const numbers = new Map<string, number>()
    const hostOf = new Uint32Array(this.#urls.size)
    for await (const [id, url] of this.#urls.all()) {
      const host = URL.canParse(url) ? new URL(url).host : ''
      if (!numbers.has(host)) numbers.set(host, numbers.size)
      hostOf[id] = numbers.get(host)!
    }
    return { names: [...numbers.keys()], hostOf }
  }

  async *#nodes(): AsyncGenerator<NodeRecord & { readonly id: number }> {
    await this.flush()
    for await (const entries of this.#database.scan('p')) {
      for (const [key, value] of entries) {
        const id = numberOf(key)
        yield { id, ...decodeNode(id, value) }
      }
    }
  }

  async #node(id: number): Promise<NodeRecord | undefined> {
    const bytes = id < 0 ? undefined : await this.#database.get('p', id)
    return bytes && decodeNode(id, bytes)
  }

  async #linksOf(id: number, only?: number): Promise<GraphLink[]> {
    const node = await this.#node(id)
    if (node === undefined) return []
    const bytes = await this.#database.get('a', id)
    const texts = bytes === undefined ? [] : Buffer.from(bytes).toString().split(LINK)
    const marks = new Map(node.marks)
    const links: GraphLink[] = []
    for (const [place, target] of Array.from(node.links).entries()) {
      if (only !== undefined && target !== only) continue
      const [text = '', rel = ''] = (texts[place] ?? '').split(FIELD)
      links.push({ url: await this.#urls.one(target), text, rel, nofollow: marks.has(place) })
    }
    return links
  }

  /** The text of the link to a URL in each of these pages, without looking up any URL. */
  async #textsTo(id: number, sources: readonly number[]): Promise<{ readonly text: string }[]> {
    const [nodes, texts] = await Promise.all([
      this.#database.getMany('p', sources),
      this.#database.getMany('a', sources),
    ])
    return sources.map((source, i) => {
      const [node, bytes] = [nodes[i], texts[i]]
      if (node === undefined || bytes === undefined) return { text: '' }
      const place = decodeNode(source, node).links.indexOf(id)
      return { text: (Buffer.from(bytes).toString().split(LINK)[place] ?? '').split(FIELD)[0]! }
    })
  }

  async *#allLinks(): AsyncGenerator<ExportedLink> {
    for await (const { id, kind } of this.#nodes()) {
      if (kind === BROKEN) continue
      const from = await this.#urls.one(id)
      for (const { url: to, text, nofollow } of await this.#linksOf(id)) yield { from, to, text, nofollow }
    }
  }
}

interface SharedGraph {
  readonly database: GraphDatabase
  readonly urls: Urls
  readonly incoming: Incoming
  readonly writer: GraphWriter
  readonly clock: Clock
}

/** Graphs that this program has open, by path: the hook that writes and the program that asks share one. */
const open = new Map<string, { readonly graph: Promise<SharedGraph>; users: number }>()

/**
 * Opens the graph in a folder, or makes an empty one. In one thread it may be opened several times, also while a crawl
 * writes to it; another program cannot open it meanwhile.
 *
 * @throws KumoError `KUMO_STORE_LOCKED` if another program has it open.
 * @example
 * const graph = await openGraph('./graph')
 * for await (const { url, status, referrers } of graph.broken()) console.log(status, url, referrers)
 * await graph.close()
 */
export async function openGraph(path: string, options: GraphOptions = {}): Promise<Graph> {
  if (typeof path !== 'string' || path === '')
    throw invalidOption('graph: path', path, 'the path of a folder')
  const { texts = true } = options
  if (typeof texts !== 'boolean') throw invalidOption('graph.texts', texts, 'true or false')
  const place = await realpath(path).catch(() => resolve(path))
  const shared = open.get(place) ?? { graph: openShared(place, texts), users: 0 }
  open.set(place, shared)
  shared.users++
  const release = async () => {
    if (--shared.users > 0) return
    open.delete(place)
    await (await shared.graph).database.close()
  }
  try {
    return new Graph(await shared.graph, release)
  } catch (error) {
    shared.users--
    open.delete(place)
    throw error
  }
}

async function openShared(path: string, texts: boolean): Promise<SharedGraph> {
  const database = await GraphDatabase.open(path)
  try {
    const urls = new Urls(database)
    await urls.open()
    const incoming = new Incoming(database, () => urls.size)
    const writer = new GraphWriter(database, urls, incoming, texts)
    return { database, urls, incoming, writer, clock: systemClock() }
  } catch (error) {
    await database.close()
    if (error instanceof KumoError) throw error
    throw new KumoError('KUMO_STORE_DAMAGED', `the link graph in ${path} cannot be read`, { cause: error })
  }
}
