/** Sitemaps written to cost as much as they can: time must grow with their size and nothing else. */

import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { parseSitemap, sitemapReader } from '../../../src/extract/sitemap/sitemap.js'
import { cpuMs } from '../../cpu-time.js'

const SIZE = 1_000_000
const SLICE = 131_072
/**
 * What one page may cost the thread. It is counted in CPU time, and of the middle slice: the machine may be
 * busy.
 */
const BOUND_MS = 50
/** Where everything takes longer, it may cost as much as so many ordinary sitemaps of its size. */
const ORDINARY_SITEMAPS = 10

const filled = (before: string, unit: string, after = '') =>
  before + unit.repeat(Math.ceil((SIZE - before.length) / unit.length)) + after

const A = '<url><loc>http://a.example/</loc></url>'

const HOSTILE: [what: string, body: string][] = [
  ['nested elements', filled('<urlset>', '<a>')],
  ['nested entries', filled('<urlset>', '<url>')],
  ['nested entries in a URL', filled('<urlset><url><loc>', '<url>')],
  ['nested strangers in an entry', filled('<urlset><url>', '<x>')],
  ['empty entries', filled('<urlset>', '<url/>')],
  ['URLs in one entry', filled('<urlset><url>', '<loc>/</loc>')],
  ['end tags', filled('<urlset>', '</a>')],
  ['signs that begin tags', filled('<urlset>', '<')],
  ['tags that end nowhere', filled('<urlset>', '<a ')],
  ['a tag without end', filled('<urlset><url a="', 'x')],
  ['a name without end', filled('<urlset><', 'x')],
  ['attributes without end', filled('<urlset><url ', 'a=b ')],
  ['attributes of links', filled('<urlset><url>', `<x:link hreflang='x' ${'a '.repeat(8000)}/>`)],
  ['quotes', filled('<urlset><url a=', `"'`)],
  ['a comment without end', filled('<urlset><!--', '- ->')],
  ['CDATA without end', filled('<urlset><url><loc><![CDATA[', ']] >')],
  ['pieces of CDATA in one value', filled('<urlset><url><loc>', '<![CDATA[]]>&amp;')],
  ['a URL without end', filled('<urlset><url><loc>', 'x')],
  ['references', filled('<urlset><url><loc>', '&#')],
  ['declarations', filled('', '<!ENTITY a "&a;&a;">')],
  ['processing instructions', filled('<urlset>', '<?a?>')],
  ['white space', filled('', ' ')],
  ['white space in a date', filled('<urlset>', `<url><lastmod>${'\t'.repeat(60)}x</lastmod></url>`)],
  ['a line without end', filled('http://a.example/', 'x')],
  ['empty lines', filled('http://a.example/', '\n')],
  ['lines that are no URLs', filled('x', '\nhttp:')],
  ['NULs', filled('\0', '\0')],
]

/** CPU time of the middle slice. */
async function middleSliceMs(body: string): Promise<number> {
  const reader = sitemapReader({ alternates: true })
  const took: number[] = []
  for (let at = 0; at < body.length; at += SLICE) {
    const start = cpuMs()
    await reader.push(body.slice(at, at + SLICE))
    took.push(cpuMs() - start)
  }
  await reader.end()
  return took.sort((a, b) => a - b)[took.length >> 1]!
}

describe('a hostile sitemap', () => {
  it.for(HOSTILE)('of %s takes no longer than another', async ([, body]) => {
    const boundMs = Math.max(BOUND_MS, ORDINARY_SITEMAPS * (await middleSliceMs(filled('<urlset>', A))))
    expect(await middleSliceMs(body)).toBeLessThan(boundMs)
  })

  it('does not keep what follows from being read', async () => {
    const after = `-->]]>'">${A}</urlset>`
    const survivors: string[] = []
    for (const [what, body] of HOSTILE) {
      if (!body.startsWith('<urlset>')) continue
      const { entries } = await parseSitemap(body.slice(0, 60_000) + after)
      if (entries.at(-1)?.url === 'http://a.example/') survivors.push(what)
    }
    // The others say that the entry is part of a comment or of the entry before.
    expect(survivors).toEqual(
      expect.arrayContaining(['nested elements', 'a tag without end', 'empty entries']),
    )
  })

  it('that is a bomb is read up to its bound', async () => {
    const bomb = gzipSync(Buffer.alloc(60_000_000, ' '), { level: 9 })
    const { entries, problems } = await parseSitemap(bomb)
    expect(entries).toEqual([])
    expect(problems.map(({ code }) => code)).toContain('too-large')
  })
})
