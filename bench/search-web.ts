/** The pages of ../shared/sites, or made ones, served by many hosts from a process of its own. */

import { execFileSync, fork } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { byHost } from 'kumo/adapters'
import { seededRandom } from '../src/time.js'

const SITES = fileURLToPath(new URL('../../shared/sites/', import.meta.url))
/** Larger ones would be most of the work, whatever the rest does. */
const MOST_BYTES = 150_000
const LEAST_BYTES = 4000

/** The number of the worker that a host belongs to. */
type OwnerOf = (host: string) => number

export interface IndexingWeb {
  /** The URLs of all pages, with as much text on the hosts of each of so many workers. */
  even(workers: number): string[]
  /** The same with this share of the text on the hosts of the first worker. */
  uneven(workers: number, share: number, ownerOf?: OwnerOf): string[]
  close(): Promise<void>
}

export async function indexingWeb(hosts: number, pages: number): Promise<IndexingWeb> {
  const folder = mkdtempSync(join(tmpdir(), 'kumo-indexing-web-'))
  const files = existsSync(SITES) ? realPages(folder, pages) : madePages(folder, pages)
  const child = fork(fileURLToPath(new URL('web/files-server.mjs', import.meta.url)), [folder])
  const port = await new Promise<number>((resolve) =>
    child.once('message', (message) => resolve(message as number)),
  )
  const names = Array.from({ length: hosts * 4 }, (_, i) => `127.0.20.${i + 1}`)
  const { partition } = byHost()
  /** How partitions are dealt out when a crawl begins. */
  const workerOf = (host: string, workers: number) => partition(host) % workers
  const urls = (workers: number, shares: readonly number[], ownerOf?: OwnerOf) => {
    const owner = ownerOf ?? ((host: string) => workerOf(host, workers))
    const own = shares.map((_, worker) =>
      names.filter((host) => owner(`${host}:${port}`) === worker).slice(0, hosts),
    )
    const placed = shares.map(() => 0)
    return files.map(({ name, bytes }, i) => {
      // To whoever is furthest below its share.
      const worker = placed.reduce(
        (best, each, w) => (each / shares[w]! < placed[best]! / shares[best]! ? w : best),
        0,
      )
      placed[worker]! += bytes
      const host = own[worker]![i % own[worker]!.length]!
      return `http://${host}:${port}/${encodeURI(name)}`
    })
  }
  return {
    even: (workers) =>
      urls(
        workers,
        Array.from({ length: workers }, () => 1 / workers),
      ),
    uneven: (workers, share, ownerOf) =>
      urls(
        workers,
        Array.from({ length: workers }, (_, worker) =>
          worker === 0 ? share : (1 - share) / Math.max(1, workers - 1),
        ),
        ownerOf,
      ),
    async close() {
      child.kill()
      await new Promise((resolve) => child.once('exit', resolve))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface PageFile {
  readonly name: string
  readonly bytes: number
}

function realPages(folder: string, most: number): PageFile[] {
  for (const site of ['python', 'postgresql', 'sqlite', 'japanese'])
    execFileSync('tar', ['-xzf', join(SITES, `${site}.tar.gz`), '-C', folder])
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.html'))
    .map((name) => ({ name, bytes: statSync(join(folder, name)).size }))
    .filter(({ bytes }) => bytes >= LEAST_BYTES && bytes <= MOST_BYTES)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const random = seededRandom(17)
  return found
    .map((file) => ({ file, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .slice(0, most)
    .map(({ file }) => file)
}

function madePages(folder: string, most: number): PageFile[] {
  const random = seededRandom(17)
  const word = () => Math.floor(5000 * random.next() ** 2).toString(36)
  return Array.from({ length: most }, (_, i) => {
    const sections = Array.from({ length: 12 }, (_, s) => {
      const words = Array.from({ length: 100 }, word).join(' ')
      return `<h2 id="s${s}">${word()} ${word()}</h2><p>${words}</p>`
    })
    const html = `<html lang="en"><title>Page ${i}</title><main><h1>Page ${i}</h1>${sections.join('')}</main></html>`
    const name = `${i}.html`
    writeFileSync(join(folder, name), html)
    return { name, bytes: html.length }
  })
}
