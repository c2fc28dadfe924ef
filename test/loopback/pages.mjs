/**
 * What stands on the pages of the loopback web. Every page is worked out from (seed, host, page) alone, so two
 * runs meet the same web, and a web of millions of pages costs no memory.
 *
 * The shape: within a host, page k links to its children k·b+1 … k·b+b, so every page is reachable from `/`. If
 * links may cross hosts, the start page of host h links to the start pages of hosts h·c+1 … h·c+c, so every host
 * is reachable from the first one. All other links lead to random pages, and their order is shuffled.
 */

import { addressOf, draw, mix, pagesOf, pathOf, UINT32 } from './shape.mjs'

/** @typedef {import('./shape.mjs').WebShape} WebShape */

/** Children per page: 20,000 pages are then five clicks deep, about as deep as a real site of that size. */
const MOST_CHILDREN = 8
/** Hosts that a start page introduces: a crawl from one seed then meets 1,000 hosts within five clicks. */
const MOST_HOST_CHILDREN = 4
/** The first links of a page stand in its navigation. */
const MOST_NAV_LINKS = 8
/** Ready-made pieces: enough for pages to differ, few enough to be made when the server starts. A power of 2. */
const PIECES = 256
/** Paragraphs take at least this share of their room; what they leave goes into the last one. */
const LEAST_TEXT_SHARE = 0.85
/** Longest label of a link, in characters. */
const LABEL_LENGTH = 20
/** One word in so many is an entity. */
const ENTITY_EVERY = 14
/** Keep draws for different ends apart. */
const FOR_LINKS = 2
const FOR_WORDS = 3

const WORDS = (
  'amber autumn basin bell bridge bright calm canal carry cedar chalk clear cloud coast copper corner crane ' +
  'daily distant draw early ember evening fable farther field final garden gather gentle glass granite harbour ' +
  'hollow inland island journey kettle kind lantern later ledger linen little lower maple market meadow measure ' +
  'merchant mild morning narrow north notice ocean often orchard paper patient pebble plain quarter quiet rather ' +
  'river road rope sail season seldom shallow silver simple slate slow spring steady stone story street summer ' +
  'thread tide timber toward travel under upper valley village walk water weather west willow window winter'
).split(' ')
const ENTITIES = ['&amp;', '&eacute;t&eacute;', '&#8212;', '&lt;', '&nbsp;', '&#x2019;', '&quot;', '&copy;']
/** A site repeats the markup of its templates: how a paragraph and a link open, and how the link's tag ends. */
const OPENINGS = ['<p class="text">', '<p class="text note">', '<p>', '<p id="part">']
const LINK_STARTS = ['<a href="', '<a data-kind="ref" href="', '<a href="', '<a rel="bookmark" href="']
const LINK_ENDS = ['" class="link">', '">', '" class="link wide" title="More">', '">']

const BEFORE_TITLE = '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>'
const BEFORE_NAV =
  '</title>\n<meta name="viewport" content="width=device-width">\n<style>body{margin:0 auto;max-width:60em;' +
  'font:16px/1.5 serif}nav li{display:inline}.note{color:#555}</style>\n</head>\n<body>\n<nav><ul>\n<li><a href="'
const BETWEEN_NAV = ['">', '</a></li>\n<li><a href="']
const BEFORE_HEADING = '">more</a></li>\n</ul></nav>\n<main>\n<h1>'
const BEFORE_TEXT = '</h1>\n<p class="lead"><a href="'
const BEFORE_FILLING = '">the rest</a>.</p>\n<p class="last">'
const BEFORE_FILLING_WITHOUT_TEXT = '</h1>\n<p class="last">'
const END =
  '</p>\n</main>\n<script>if (1 < 2 && document.body) document.body.dataset.read = "yes"</script>\n</body>\n</html>\n'

/** As long as any `http://address:port`. */
const LONGEST_ORIGIN = 'http://127.255.255.255:65535'

/** @param {number} page @param {string} address */
const headingEnd = (page, address) => ` &middot; page ${page} of ${address}`

/** Uniform numbers from 0 to `n` - 1. @param {number} state @returns {(n: number) => number} */
function chooser(state) {
  return (n) => {
    state = (state + 0x9e3779b9) | 0
    return Math.floor((mix(state) / UINT32) * n)
  }
}

/** As many words as fit into `length` characters. @param {(n: number) => number} below @param {number} length */
function words(below, length, entityEvery = Number.POSITIVE_INFINITY) {
  let text = ''
  for (;;) {
    const list = entityEvery < UINT32 && below(entityEvery) === 0 ? ENTITIES : WORDS
    const word = list[below(list.length)]
    if (text.length + word.length + 1 > length) return text
    text += text === '' ? word : ` ${word}`
  }
}

/** @param {string} text */
const ascii = (text) => new Uint8Array(Buffer.from(text, 'latin1'))

/**
 * What stands between two hrefs in the text: the end of one paragraph and the beginning of the next, with up to
 * `room` characters of words.
 *
 * @param {(n: number) => number} below @param {number} room
 */
function textPieces(below, room) {
  return Array.from({ length: PIECES }, () => {
    const length = Math.floor(room * (LEAST_TEXT_SHARE + (below(PIECES) / PIECES) * (1 - LEAST_TEXT_SHARE)))
    const late = words(below, below(length), ENTITY_EVERY)
    const early = words(below, length - late.length, ENTITY_EVERY)
    const of = (/** @type {string[]} */ list) => list[below(list.length)]
    const label = words(below, LABEL_LENGTH)
    return ascii(`${of(LINK_ENDS)}${label}</a> ${late}.</p>\n${of(OPENINGS)}${early} ${of(LINK_STARTS)}`)
  })
}

/** What stands between two hrefs in the navigation. @param {(n: number) => number} below */
function navPieces(below) {
  return Array.from({ length: PIECES }, () => ascii(BETWEEN_NAV.join(words(below, LABEL_LENGTH))))
}

/** @param {{ length: number }[]} pieces */
const longest = (pieces) => Math.max(...pieces.map(({ length }) => length))

/**
 * Chooses where the links of a page lead. The two lists are overwritten by the next call.
 *
 * @param {WebShape} shape
 */
function createLinks(shape) {
  const { hosts, linksPerPage, crossHostShare, seed } = shape
  const children = Math.max(1, Math.min(MOST_CHILDREN, Math.floor((linksPerPage * (1 - crossHostShare)) / 4)))
  const hostChildren = crossHostShare > 0 ? Math.min(MOST_HOST_CHILDREN, linksPerPage - children) : 0
  const toHost = new Int32Array(linksPerPage)
  const toPage = new Int32Array(linksPerPage)

  /** @param {Int32Array} list @param {number} i @param {number} j */
  const swap = (list, i, j) => {
    const kept = list[i]
    list[i] = list[j]
    list[j] = kept
  }
  /** @param {number} host @param {number} page */
  const choose = (host, page) => {
    const below = chooser(draw(seed, host, page, FOR_LINKS))
    const pages = pagesOf(shape, host)
    let count = 0
    const add = (/** @type {number} */ nextHost, /** @type {number} */ nextPage) => {
      toHost[count] = nextHost
      toPage[count++] = nextPage
    }
    for (let k = page * children + 1; k <= (page + 1) * children && k < pages; k++) add(host, k)
    const own = count
    if (page === 0) {
      for (let k = host * hostChildren + 1; k <= (host + 1) * hostChildren && k < hosts; k++) add(k, 0)
    }
    // A share of less than one link a page is kept on average.
    const crossing = own + Math.floor(linksPerPage * crossHostShare + below(PIECES) / PIECES)
    while (count < crossing && count < linksPerPage) {
      const other = (host + 1 + below(hosts - 1)) % hosts
      add(other, below(pagesOf(shape, other)))
    }
    while (count < linksPerPage) add(host, below(pages))
    for (let i = linksPerPage - 1; i > 0; i--) {
      const j = below(i + 1)
      swap(toHost, i, j)
      swap(toPage, i, j)
    }
  }
  return { toHost, toPage, choose }
}

/** A place to write to, piece by piece: several times as fast as joining strings. */
class Sheet {
  /** @type {Uint8Array} */
  bytes = new Uint8Array(0)
  at = 0

  /** @param {Uint8Array} part */
  add(part) {
    this.bytes.set(part, this.at)
    this.at += part.length
  }

  /** For a few characters. @param {string} text */
  addText(text) {
    for (let i = 0; i < text.length; i++) this.bytes[this.at++] = text.charCodeAt(i)
  }

  /** As `pathOf` spells it, without the string. @param {number} page */
  addPath(page) {
    this.addText(page === 0 ? '/' : '/p/')
    let place = this.at
    for (let rest = page; rest > 0; rest = Math.floor(rest / 10)) place++
    this.at = place
    for (let rest = page; rest > 0; rest = Math.floor(rest / 10)) this.bytes[--place] = 0x30 + (rest % 10)
  }
}

/** What all pages share: their markup and their words, cut so that a page fits. @param {WebShape} shape */
function createStock(shape) {
  const { hosts, linksPerPage, bytes, crossHostShare, seed } = shape
  const below = chooser(mix(seed + FOR_WORDS))
  const nav = navPieces(below)
  const navLinks = Math.min(MOST_NAV_LINKS, linksPerPage)
  const texts = linksPerPage - navLinks
  let mostPages = 0
  for (let host = 0; host < hosts; host++) mostPages = Math.max(mostPages, pagesOf(shape, host))
  const longestHref = (crossHostShare > 0 ? LONGEST_ORIGIN.length : 0) + pathOf(mostPages).length
  const barePiece =
    longest(OPENINGS) + longest(LINK_STARTS) + longest(LINK_ENDS) + LABEL_LENGTH + '</a> .</p>\n '.length
  const needed =
    [BEFORE_TITLE, BEFORE_NAV, BEFORE_HEADING, BEFORE_TEXT, BEFORE_FILLING, END].join('').length +
    2 * (LABEL_LENGTH + headingEnd(mostPages, LONGEST_ORIGIN).length) +
    navLinks * longest(nav) +
    texts * barePiece +
    linksPerPage * longestHref
  if (bytes < needed) {
    throw new RangeError(`Loopback web: a page of ${linksPerPage} links needs at least ${needed} bytes.`)
  }
  const text = textPieces(below, texts > 0 ? Math.floor((bytes - needed) / texts) : 0)
  const titles = Array.from({ length: PIECES }, () => words(below, LABEL_LENGTH))
  return { nav, navLinks, text, titles, filling: ascii(words(below, 2 * bytes)) }
}

/**
 * The author of the pages: writes a page in ASCII into `out`, from `at` on, exactly `bytes` long. The port stands
 * in links that cross hosts; nothing else on a page depends on it, apart from the last paragraph, which fills up.
 *
 * @param {WebShape} shape
 * @param {number} port
 * @returns {(host: number, page: number, out: Uint8Array, at: number) => void}
 */
export function createPages(shape, port) {
  const { linksPerPage, bytes, seed } = shape
  const { nav, navLinks, text, titles, filling } = createStock(shape)
  const { toHost, toPage, choose } = createLinks(shape)
  const [beforeTitle, beforeNav, beforeHeading] = [BEFORE_TITLE, BEFORE_NAV, BEFORE_HEADING].map(ascii)
  const beforeText = ascii(linksPerPage > navLinks ? BEFORE_TEXT : BEFORE_FILLING_WITHOUT_TEXT)
  const beforeFilling = ascii(linksPerPage > navLinks ? BEFORE_FILLING : '')
  const end = ascii(END)
  /** @type {string[]} */
  const origins = []
  const originOf = (/** @type {number} */ host) =>
    (origins[host] ??= `http://${addressOf(shape, host)}:${port}`)
  const sheet = new Sheet()

  return (host, page, out, at) => {
    choose(host, page)
    const chance = draw(seed, host, page, FOR_WORDS)
    const heading = titles[chance & (PIECES - 1)] + headingEnd(page, addressOf(shape, host))
    sheet.bytes = out
    sheet.at = at
    sheet.add(beforeTitle)
    sheet.addText(heading)
    sheet.add(beforeNav)
    for (let i = 0; i < linksPerPage; i++) {
      if (toHost[i] !== host) sheet.addText(originOf(toHost[i]))
      sheet.addPath(toPage[i])
      const place = (chance + Math.imul(i, chance | 1)) & (PIECES - 1)
      if (i + 1 === navLinks) {
        sheet.add(beforeHeading)
        sheet.addText(heading)
        sheet.add(beforeText)
      } else if (i + 1 < linksPerPage) {
        sheet.add(i < navLinks ? nav[place] : text[place])
      }
    }
    sheet.add(beforeFilling)
    const left = at + bytes - sheet.at - end.length
    const from = chance % (filling.length - left)
    sheet.add(filling.subarray(from, from + left))
    sheet.add(end)
  }
}
