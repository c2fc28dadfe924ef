/**
 * Writes the inside of a block as Markdown: text, emphasis, links, images, code. White space is collapsed; a line break of
 * the page is a line feed, which the block writer turns into a hard break.
 */

import type { ContentElement, ContentNode } from '../tree.js'
import { collapse, isInline, isSilent } from '../tree-text.js'
import { codeSpan, destination, escapeText } from './escape.js'

/** How an element is emphasized. */
const MARKS: Readonly<Record<string, string>> = {
  b: '**',
  strong: '**',
  em: '*',
  i: '*',
  cite: '*',
  dfn: '*',
  var: '*',
  del: '~~',
  s: '~~',
  strike: '~~',
}
const TAGS: Readonly<Record<string, string>> = { '**': 'strong', '*': 'em', '~~': 'del' }
const CODE: ReadonlySet<string> = new Set(['code', 'kbd', 'samp', 'tt'])
const PUNCTUATION = /[\p{P}\p{S}]/u
const BLANK = /\s/
/** Attributes in which pages keep the address of an image until it is needed. */
const SOURCES = ['src', 'data-src', 'data-original', 'data-lazy-src', 'data-url']
/** Of a link or an image; longer ones are data. */
const LONGEST_URL = 4096

export class InlineWriter {
  #inLink = false
  #inMath = false
  /** Marks that are open: they are not nested in themselves. */
  readonly #marks = new Set<string>()

  /** @param base The URL that links are relative to; undefined keeps them as they are written. */
  constructor(readonly base: string | undefined) {}

  /** The nodes as one text. A line feed stands for `<br>`; there may be blanks at both ends. */
  write(nodes: readonly ContentNode[]): string {
    return this.#nodes(nodes, '', undefined)
  }

  /** `before` and `after` are what stands around the nodes. */
  #nodes(nodes: readonly ContentNode[], before: string, after: ContentNode | undefined): string {
    let text = ''
    let lastMark = ''
    for (const [at, node] of nodes.entries()) {
      const isText = typeof node === 'string'
      const around = text === '' ? before : text
      const written = isText ? this.#text(node) : this.#element(node, around, nodes[at + 1] ?? after)
      const mark = isText ? '' : (MARKS[node.tag] ?? '')
      if (mark !== '' && mark === lastMark && written.startsWith(mark) && text.endsWith(mark)) {
        // `**a****b**` would not be two strong texts but asterisks.
        text = text.slice(0, -mark.length) + written.slice(mark.length)
      } else {
        // An exclamation mark would turn the link after it into an image.
        if (written.startsWith('[') && text.endsWith('!')) text = `${text.slice(0, -1)}\\!`
        text += written
      }
      lastMark = mark
    }
    return text
  }

  #text(text: string): string {
    return escapeText(collapse(text), this.#inLink)
  }

  #element(element: ContentElement, before: string, next: ContentNode | undefined): string {
    const { tag } = element
    if (isSilent(tag)) return ''
    if (CODE.has(tag)) return this.#code(element)
    const mark = MARKS[tag]
    if (mark !== undefined) return this.#marked(mark, element, before, next)
    switch (tag) {
      case 'br':
        return '\n'
      case 'a':
        return this.#link(element)
      case 'img':
        return this.image(element)
      case 'sup':
      case 'sub':
        return this.#raised(element)
      case 'q':
        return `“${this.write(element.children).trim()}”`
      case 'math':
        return this.#math(element)
      case 'input':
        return ''
      default:
        // Blocks within a line, such as those of a table's cell, are kept apart.
        return isInline(tag)
          ? this.#nodes(element.children, before, next)
          : ` ${this.write(element.children)} `
    }
  }

  #code(element: ContentElement): string {
    const [only] = element.children
    // A link that is all of the code is written around it.
    if (element.children.length === 1 && typeof only === 'object' && only.tag === 'a' && !this.#inLink) {
      const code = codeSpan(collapsed(only))
      const url = this.#urlOf(only.attribute('href'))
      return url === undefined || code === '' ? code : `[${code}](${destination(url)})`
    }
    return codeSpan(collapsed(element))
  }

  #marked(mark: string, element: ContentElement, before: string, next: ContentNode | undefined): string {
    if (this.#marks.has(mark)) return this.#nodes(element.children, before, next)
    this.#marks.add(mark)
    const inner = this.write(element.children)
    this.#marks.delete(mark)
    const core = inner.trim()
    if (core === '') return inner
    const start = inner.slice(0, inner.indexOf(core[0]!))
    const end = inner.slice(start.length + core.length)
    const isOpen = start !== '' || canOpen(before.at(-1), core[0]!)
    const isClosed = end !== '' || canOpen(firstCharacter(next), core.at(-1)!)
    // Marks do not count between a letter and punctuation, so that HTML is needed.
    if (!isOpen || !isClosed || core.includes('\n\n')) {
      const name = TAGS[mark]!
      return `${start}<${name}>${core}</${name}>${end}`
    }
    return start + mark + core + mark + end
  }

  #link(element: ContentElement): string {
    if (this.#inLink) return this.write(element.children)
    this.#inLink = true
    const inner = this.write(element.children)
    this.#inLink = false
    return this.linked(inner, element)
  }

  /** Turns a text, already written, into a link, unless the element leads nowhere. */
  linked(inner: string, element: ContentElement): string {
    const core = inner.trim()
    const url = this.#urlOf(element.attribute('href'))
    if (url === undefined || core === '') return inner
    const start = BLANK.test(inner[0]!) ? ' ' : ''
    const end = BLANK.test(inner.at(-1)!) ? ' ' : ''
    return `${start}[${collapse(core)}](${destination(url)})${end}`
  }

  image(element: ContentElement): string {
    const url = this.#imageUrl(element)
    if (url === undefined) return ''
    const alt = escapeText(collapse(element.attribute('alt') ?? '').trim(), true)
    return `![${alt}](${destination(url)})`
  }

  #imageUrl(element: ContentElement): string | undefined {
    // A pixel that counts visits.
    if (element.attribute('width') === '1' || element.attribute('height') === '1') return undefined
    for (const name of SOURCES) {
      const url = this.#urlOf(element.attribute(name))
      if (url !== undefined) return url
    }
    const [, first] =
      /^\s*(\S+)/.exec(element.attribute('srcset') ?? element.attribute('data-srcset') ?? '') ?? []
    return this.#urlOf(first)
  }

  /** Numbers of footnotes are links already; what else is raised or lowered has no Markdown. */
  #raised(element: ContentElement): string {
    const inner = this.write(element.children)
    const core = inner.trim()
    return core === '' || core.startsWith('[') ? inner : `<${element.tag}>${core}</${element.tag}>`
  }

  /** Formulas within a formula are part of it. */
  #math(element: ContentElement): string {
    const tex = this.#inMath ? undefined : texIn(element)
    if (tex !== undefined) return tex
    const wasInMath = this.#inMath
    this.#inMath = true
    const inner = this.write(element.children)
    this.#inMath = wasInMath
    return inner
  }

  #urlOf(written: string | undefined): string | undefined {
    const href = written?.trim()
    if (href === undefined || href === '' || href.length > LONGEST_URL) return undefined
    if (/^(?:javascript|data|vbscript|blob):/i.test(href)) return undefined
    if (this.base === undefined) return encodeURI(decodedOrSame(href))
    // Not by catching what the constructor throws: that takes thirty times as long.
    return URL.canParse(href, this.base) ? new URL(href, this.base).href : undefined
  }
}

function decodedOrSame(href: string): string {
  try {
    return decodeURI(href)
  } catch {
    return href
  }
}

/** Whether a mark counts with this character outside and that one inside. */
function canOpen(outside: string | undefined, inside: string): boolean {
  if (outside === undefined || outside === '' || BLANK.test(outside) || PUNCTUATION.test(outside)) return true
  return !PUNCTUATION.test(inside)
}

function firstCharacter(node: ContentNode | undefined): string | undefined {
  let first = node
  for (let level = 0; typeof first === 'object' && level < 8; level++) first = first.children[0]
  return typeof first === 'string' ? first[0] : undefined
}

/** Text as it is, white space collapsed. */
function collapsed(element: ContentElement): string {
  return collapse(rawText(element)).trim()
}

function rawText(element: ContentElement): string {
  let text = ''
  for (const child of element.children) {
    if (typeof child === 'string') text += child
    else if (child.tag === 'br') text += '\n'
    else if (!isSilent(child.tag)) text += rawText(child)
  }
  return text
}

/** TeX, if the formula has it. */
function texIn(element: ContentElement): string | undefined {
  for (const child of element.children) {
    if (typeof child === 'string') continue
    if (child.tag === 'annotation' && /tex/i.test(child.attribute('encoding') ?? ''))
      return `$${collapsed(child)}$`
    const found = texIn(child)
    if (found !== undefined) return found
  }
  return undefined
}
