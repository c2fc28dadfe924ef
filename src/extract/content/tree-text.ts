/**
 * The readable text of a tree: white space collapsed, one line per block, `<pre>` as written. It follows the same rules as
 * `page.text`, which needs no tree.
 */

import type { ContentElement, ContentNode } from './tree.js'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Elements that do not start a new line. */
const INLINE = words(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark math mi mn mo mrow msub msup ' +
    'nobr picture q rb rp rt rtc ruby s samp small span strike strong sub sup svg time tt u var wbr',
)
/** Elements without readable text. */
const SILENT = words(
  'script style template title head textarea select iframe object audio video canvas noscript svg annotation annotation-xml',
)

/** Runs of white space, apart from single spaces, which need no replacement and are most of it. */
const RUNS = /\s{2,}|[^\S ]/g

/** White space collapsed to single spaces. */
export function collapse(text: string): string {
  return text.replace(RUNS, ' ')
}

/** Whether an element is part of a line. */
export function isInline(tag: string): boolean {
  return INLINE.has(tag)
}

/** Whether the content of an element is not text to read. */
export function isSilent(tag: string): boolean {
  return SILENT.has(tag)
}

/**
 * The text of an element or of several nodes.
 *
 * @example readableTextOf(buildTree('<p>Fish &amp; chips</p><p>Tea', …)) // 'Fish & chips\nTea'
 */
export function readableTextOf(...nodes: readonly ContentNode[]): string {
  const writer = new TextWriter()
  for (const node of nodes) writer.node(node)
  return writer.end()
}

/** The text of an element without some of the elements in it. */
export function readableTextWithout(left: ReadonlySet<ContentElement>, element: ContentElement): string {
  const writer = new TextWriter(left)
  writer.node(element)
  return writer.end()
}

class TextWriter {
  #text = ''
  /** What to write before the next word. */
  #gap = ''
  #verbatim = 0

  constructor(readonly left: ReadonlySet<ContentElement> | undefined = undefined) {}

  node(node: ContentNode): void {
    if (typeof node === 'string') {
      if (this.#verbatim > 0) this.#pre(node)
      else this.#words(node)
    } else this.#element(node)
  }

  end(): string {
    return this.#text.trim()
  }

  #element(element: ContentElement): void {
    const { tag } = element
    if (SILENT.has(tag) || this.left?.has(element)) return
    if (tag === 'br') {
      if (this.#verbatim > 0) this.#pre('\n')
      else this.#gap = '\n'
      return
    }
    const isCell = tag === 'td' || tag === 'th'
    const isBlock = !INLINE.has(tag)
    if (isCell) this.#gap ||= '\t'
    else if (isBlock) this.#gap = '\n'
    const isVerbatim = tag === 'pre' || tag === 'listing' || tag === 'xmp'
    if (isVerbatim) this.#verbatim++
    for (const child of element.children) this.node(child)
    if (isVerbatim) this.#verbatim--
    if (isCell) this.#gap = '\t'
    else if (isBlock) this.#gap = '\n'
  }

  #words(text: string): void {
    const collapsed = collapse(text)
    if (collapsed === '') return
    const starts = collapsed.startsWith(' ')
    const ends = collapsed.endsWith(' ')
    if (starts) this.#gap ||= ' '
    if (starts && collapsed.length === 1) return
    if (this.#text !== '') this.#text += this.#gap
    this.#text += collapsed.slice(starts ? 1 : 0, ends ? -1 : undefined)
    this.#gap = ends ? ' ' : ''
  }

  /** Text of a `<pre>`: only white space at the ends of lines is removed, by `end`. */
  #pre(text: string): void {
    if (text === '') return
    if (this.#text !== '') this.#text += this.#gap
    this.#gap = ''
    this.#text += text
  }
}
