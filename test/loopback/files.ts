/** Real websites of ../shared/sites on loopback, where that folder is there. */

import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SITES = fileURLToPath(new URL('../../../shared/sites/', import.meta.url))
const SERVER = fileURLToPath(new URL('./file-server.mjs', import.meta.url))

/** The archives of ../shared/sites; none where it is absent. */
export const SITE_NAMES: readonly string[] = existsSync(SITES)
  ? readdirSync(SITES)
      .filter((name) => name.endsWith('.tar.gz'))
      .map((name) => name.slice(0, -'.tar.gz'.length))
  : []

/** Sites on loopback. */
export interface FileSites {
  /** A page of each site that links to all of its pages. */
  readonly seeds: readonly string[]
  /** Number of pages, without those. */
  readonly pages: number
  /** The bytes that the server sends for a URL; undefined if it has no such page. */
  bytesOf(url: string): Buffer | undefined
  close(): Promise<void>
}

/** Unpacks sites and serves them from a process of its own, each at its own address. `gzip`: with a content coding. */
export async function startFileSites(names = SITE_NAMES, gzip = false): Promise<FileSites> {
  const root = mkdtempSync(join(tmpdir(), 'kumo-sites-'))
  const folders = names.map((name) => join(root, name))
  for (const [at, folder] of folders.entries()) {
    mkdirSync(folder)
    execFileSync('tar', ['-xzf', join(SITES, `${names[at]}.tar.gz`), '-C', folder])
  }
  const server = fork(SERVER, folders, {
    execArgv: [],
    env: { ...process.env, KUMO_FILES_GZIP: gzip ? '1' : '0' },
  })
  const [{ port, pages }] = (await once(server, 'message')) as [{ port: number; pages: number[] }]
  return {
    seeds: folders.map((_, at) => `http://127.0.0.${at + 1}:${port}/all-pages`),
    pages: pages.reduce((sum, count) => sum + count, 0),
    bytesOf(url) {
      const { hostname, pathname } = new URL(url)
      const path = join(folders[Number(hostname.split('.')[3]) - 1]!, decodeURI(pathname))
      return existsSync(path) && pathname.match(/\.html?$/) ? readFileSync(path) : undefined
    },
    async close() {
      const exited = once(server, 'exit')
      server.disconnect()
      await exited
      rmSync(root, { recursive: true, force: true })
    },
  }
}
