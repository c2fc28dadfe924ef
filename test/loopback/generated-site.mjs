/**
 * A site like those of the archives, for machines that do not have them: deep paths, relative links, long attributes,
 * scripts and styles inside the page, character references, index pages with many thousand links, some pages that are not
 * in UTF-8, and links that lead nowhere. The same number gives the same site.
 */

const CHAPTERS = 12
/** On average over the archives. */
const PAGE_BYTES = 22 * 1024
const LINKS = 93
const INDEX_LINKS = 10_000
/** Every so many pages one is in another encoding. */
const OTHER_ENCODING_EVERY = 20
/** Every so many links one leads nowhere. */
const BROKEN_EVERY = 40

const WORDS =
  'the of a to in is that for on with as by this from are or be it an can value type method page section returns'.split(
    ' ',
  )
const STYLE = '<style>\n.nav > a { color: #369 } /* <a href="no-link.html"> */\n</style>'
const SCRIPT = '<script>if (1 < 2 && "<a href=\'no-link-either.html\'>") { window.x = 1 }</script>'
const ICON = `<img alt="" src="data:image/svg+xml;base64,${'QUJD'.repeat(80)}">`

/**
 * The files of a generated site by their path.
 *
 * @param {number} pages
 * @param {number} seed
 * @returns {Map<string, Buffer>}
 */
export function generateSite(pages, seed) {
  const random = randomFrom(seed)
  const paths = Array.from({ length: pages }, (_, page) => pathOf(page))
  const files = new Map()
  for (const [page, path] of paths.entries()) files.set(path, pageAt(page, path, paths, random))
  const all = Array.from({ length: INDEX_LINKS }, (_, i) => {
    const target = paths[i % pages].slice(1)
    return `<li><a href="${target}#entry-${i}" class="index-entry"><code>entry ${i}</code></a></li>`
  })
  files.set('/genindex.html', Buffer.from(`<!doctype html><title>Index</title><ul>${all.join('\n')}</ul>`))
  return files
}

function pathOf(page) {
  if (page === 0) return '/index.html'
  const chapter = `chapter-${page % CHAPTERS}`
  if (page <= CHAPTERS) return `/${chapter}/index.html`
  return page % 3 === 0 ? `/${chapter}/parts/deep/page-${page}.html` : `/${chapter}/page-${page}.html`
}

function pageAt(page, path, paths, random) {
  const isOther = page % OTHER_ENCODING_EVERY === OTHER_ENCODING_EVERY - 1
  const charset = isOther ? 'iso-8859-1' : 'utf-8'
  const parts = [
    `<!DOCTYPE html>\n<html lang="en"><head>\n<meta charset="${charset}">`,
    `<title>Page ${page} &mdash; caf\u00e9 &amp; more</title>${STYLE}${SCRIPT}`,
    '<link rel="stylesheet" href="../style.css"><link rel="next" href="#">',
    '</head><body>',
  ]
  let bytes = 0
  for (let link = 0; link < LINKS; link++) {
    // A tree, so that each page is reachable, and then anywhere.
    const target = link < 4 ? page * 4 + link + 1 : Math.floor(random() * paths.length)
    const href =
      link % BROKEN_EVERY === BROKEN_EVERY - 1
        ? `missing-${link}.html`
        : relative(path, paths[target % paths.length])
    const written = link % 10 === 9 ? `${href}?a=1&amp;b=${page % 3}` : href
    parts.push(
      `<p class="reference internal section-number-${link}" id="id-${page}-${link}">${sentence(random)}`,
      ` <a class="reference internal" title="${sentence(random)}" href="${written}">${sentence(random)}</a>.</p>`,
    )
    bytes += parts.at(-1).length + parts.at(-2).length
    if (link % 30 === 29) parts.push(ICON)
  }
  parts.push('<p><a href="/genindex.html">index</a> <!-- <a href="commented.html"> --></p>')
  while (bytes < PAGE_BYTES) {
    const text = `<p>${sentence(random)} &lt;caf\u00e9&gt; ${sentence(random)}</p>\n`
    parts.push(text)
    bytes += text.length
  }
  return Buffer.from(parts.join('\n'), isOther ? 'latin1' : 'utf8')
}

function sentence(random) {
  return Array.from({ length: 6 }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ')
}

/** How the page at `from` writes a link to `to`. */
function relative(from, to) {
  const base = from.split('/').slice(1, -1)
  const target = to.split('/').slice(1)
  let common = 0
  while (common < base.length && base[common] === target[common] && common < target.length - 1) common++
  return '../'.repeat(base.length - common) + target.slice(common).join('/')
}

/** Numbers from 0 to 1, the same for the same seed. */
function randomFrom(seed) {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let x = Math.imul(state ^ (state >>> 15), 1 | state)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32
  }
}
