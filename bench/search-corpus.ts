/** Documents for the search benches: the pages of ../shared/sites as the crawl would index them. */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pageOf } from '../src/conformance/page.js'
import type { SearchDocument, SearchSection } from '../src/search/index.js'

const SITES = fileURLToPath(new URL('../../shared/sites/', import.meta.url))

/** A document that always has sections. */
export interface CorpusDocument extends SearchDocument {
  readonly title: string
  readonly sections: readonly SearchSection[]
}

export function hasSites(): boolean {
  return existsSync(SITES)
}

/** The documents of a site; of a part of it if `under` is given. */
export function siteDocuments(site: string, under = '', most = Number.POSITIVE_INFINITY): CorpusDocument[] {
  const folder = mkdtempSync(join(tmpdir(), 'kumo-corpus-'))
  try {
    execFileSync('tar', ['-xzf', join(SITES, `${site}.tar.gz`), '-C', folder])
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.html') && name.includes(under))
      .sort()
    const chosen = names.slice(0, most)
    return chosen.flatMap((name) => documentOf(site, name, readFileSync(join(folder, name))) ?? [])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function documentOf(site: string, name: string, body: Buffer): CorpusDocument | undefined {
  const page = pageOf({
    url: `https://${site}.example/${encodeURI(name)}`,
    body,
    headers: { 'content-type': 'text/html' },
  })
  try {
    const sections = page.sections.map(({ id, heading, path, text }) => ({ anchor: id, heading, path, text }))
    if (sections.length === 0) return undefined
    return { url: page.url, title: page.title, language: page.language.code, sections }
  } catch {
    // Too large for a tree.
    return undefined
  }
}
