/**
 * Writes a tree as Markdown (GitHub Flavored): headings, lists, tables, code with its language, quotes, links and images.
 * One pass that appends to a text. Lists and quotes are indented to a limit, so that the text is never much larger than the
 * page.
 */

import { ContentElement, type ContentNode } from '../tree.js'
import { collapse, isInline, isSilent } from '../tree-text.js'
import { codeLanguage } from './code-language.js'
import { codeFence, escapeLineStart } from './escape.js'
import { InlineWriter } from './inline.js'
import { type Table, tableOf } from './table.js'

/** Lists and quotes within each other; deeper ones are written as if they were not there. */
const MOST_NESTED = 12
const LINE_NUMBERS = /(?:^|\s)(?:linenos?|line-?numbers?(?:-rows)?|gutter|lineno\w*|hljs-ln-numbers)(?:\s|$)/

/**
 * The Markdown of an element's content. Links are resolved against `base`, or stay as they are written without it.
 *
 * @example markdownOf(buildTree('<h1>Tea</h1><p>Is <b>hot</b>.', …), undefined) // '# Tea\n\nIs **hot**.'
 */
export function markdownOf(root: ContentElement, base: string | undefined): string {
  return new MarkdownWriter(root, base).run()
}

class MarkdownWriter {
  readonly #inline: InlineWriter
  /** Inline elements that contain blocks. */
  readonly #holdsBlocks = new Set<ContentElement>()
  #text = ''
  /** What starts a line: the indentation of lists and the marks of quotes. */
  #prefix = ''
  /** The prefix of the next line, which starts a list item. */
  #firstPrefix: string | undefined
  /** The prefix of the blank line before it. */
  #blankPrefix = ''
  #isInItem = false
  /** Line feeds before the next block. */
  #gap = 0
  #nested = 0
  /** A link around blocks: the first of them becomes the link. */
  #link: ContentElement | undefined

  constructor(
    readonly root: ContentElement,
    base: string | undefined,
  ) {
    this.#inline = new InlineWriter(base)
  }

  run(): string {
    this.#findBlocks(this.root)
    this.#blocks(this.root.children)
    return this.#text
  }

  /** Returns whether the element is or contains a block. */
  #findBlocks(element: ContentElement): boolean {
    let found = false
    for (const child of element.children) {
      if (typeof child !== 'string' && !isSilent(child.tag) && this.#findBlocks(child)) found = true
    }
    const inline = isInline(element.tag) || element.tag === 'br' || element.tag === 'input'
    if (inline && found) this.#holdsBlocks.add(element)
    return found || !inline
  }

  #isBlock(node: ContentNode): node is ContentElement {
    if (typeof node === 'string' || node.tag === 'br' || node.tag === 'input') return false
    return !isInline(node.tag) || this.#holdsBlocks.has(node)
  }

  /** Children of an element: blocks, and stretches of inline nodes between them, which become paragraphs. */
  #blocks(children: readonly ContentNode[]): void {
    let from = 0
    for (const [at, child] of children.entries()) {
      if (!this.#isBlock(child)) continue
      if (at > from) this.#paragraph(children.slice(from, at))
      this.#block(child)
      from = at + 1
    }
    if (from < children.length) this.#paragraph(from === 0 ? children : children.slice(from))
  }

  #block(element: ContentElement): void {
    const { tag } = element
    if (isSilent(tag)) return
    switch (tag) {
      case 'h1':
      case 'h2':
      case 'h3':
      case 'h4':
      case 'h5':
      case 'h6':
        this.#heading(element)
        break
      case 'pre':
      case 'listing':
      case 'xmp':
        this.#code(element)
        break
      case 'ul':
      case 'ol':
      case 'menu':
      case 'dir':
        this.#list(element)
        break
      case 'dl':
        this.#definitions(element)
        break
      case 'blockquote':
        this.#separate(() => this.#within('> ', '> ', () => this.#blocks(element.children)))
        break
      case 'hr':
        this.#lines(['---'])
        break
      case 'table':
        this.#table(element)
        break
      case 'figcaption':
      case 'caption':
        this.#emphasized(element, '*')
        break
      case 'summary':
        this.#emphasized(element, '**')
        break
      case 'a':
        this.#linkAround(element)
        break
      default:
        this.#separate(() => this.#blocks(element.children))
    }
  }

  /** Starts and ends a block. */
  #separate(write: () => void): void {
    this.#need(2)
    write()
    this.#need(2)
  }

  /** Asks for line feeds before what comes next; in front of the first block of an item they are settled. */
  #need(lineFeeds: number): void {
    if (this.#firstPrefix === undefined) this.#gap = Math.max(this.#gap, lineFeeds)
  }

  #paragraph(nodes: readonly ContentNode[]): void {
    const text = this.#linked(this.#inline.write(nodes))
    const lines = linesOf(text)
    if (lines.length === 0) return
    this.#append(lines.map(escapeLineStart).map((line, at) => (at < lines.length - 1 ? `${line}  ` : line)))
  }

  #linked(text: string): string {
    if (this.#link === undefined || text.trim() === '' || text.includes('](')) return text
    const link = this.#link
    this.#link = undefined
    return this.#inline.linked(text.replace(/\n/g, ' '), link)
  }

  #linkAround(element: ContentElement): void {
    const outer = this.#link
    this.#link = element
    this.#blocks(element.children)
    this.#link = outer
  }

  #heading(element: ContentElement): void {
    if (this.#holdsStructure(element)) {
      this.#separate(() => this.#blocks(element.children))
      return
    }
    const text = oneLine(this.#linked(this.#inline.write(element.children)))
    const marks = '#'.repeat(Number(element.tag[1]))
    // Hashes at the end would be taken for the closing ones.
    if (text !== '') this.#lines([`${marks} ${text.replace(/(^|\s)(#+)$/, '$1\\$2')}`])
  }

  /** A heading around lists or tables is none. */
  #holdsStructure(element: ContentElement): boolean {
    const isStructure = (child: ContentNode) =>
      typeof child !== 'string' && ['ul', 'ol', 'table', 'pre', 'dl'].includes(child.tag)
    return element.children.some(isStructure)
  }

  #emphasized(element: ContentElement, mark: string): void {
    const text = oneLine(this.#inline.write(element.children))
    if (text === '') return
    const isPlain = !text.includes('*') && !text.startsWith('![')
    this.#lines([escapeLineStart(isPlain ? mark + text + mark : text)])
  }

  #code(element: ContentElement): void {
    const text = withoutBlankLines(verbatim(element))
    if (text === '') return
    const fence = codeFence(text)
    this.#lines([fence + codeLanguage(element), ...text.split('\n'), fence])
  }

  #list(list: ContentElement): void {
    const isOrdered = list.tag === 'ol'
    const start = Number.parseInt(list.attribute('start') ?? '1', 10)
    let number = Number.isSafeInteger(start) && start >= 0 && start < 1e9 ? start : 1
    this.#need(this.#isInItem ? 1 : 2)
    const isLoose = list.children.some((child) => typeof child !== 'string' && hasParagraphs(child))
    for (const child of list.children) {
      if (typeof child === 'string') {
        if (child.trim() !== '') this.#paragraph([child])
      } else if (child.tag !== 'li') this.#block(child)
      else {
        const marker = isOrdered ? `${number++}. ` : '- '
        this.#item(marker, isLoose, () => this.#itemContent(child))
      }
    }
    this.#need(2)
  }

  /** An item without content is left out. */
  #item(marker: string, isLoose: boolean, write: () => void): void {
    const { length } = this.#text
    const wasInItem = this.#isInItem
    this.#isInItem = true
    this.#within(marker, ' '.repeat(marker.length), write)
    this.#isInItem = wasInItem
    if (this.#text.length > length) this.#gap = isLoose ? 2 : 1
  }

  #itemContent(item: ContentElement): void {
    const box = checkboxIn(item)
    if (box !== undefined) {
      const state = box.attribute('checked') === undefined ? '[ ] ' : '[x] '
      this.#firstPrefix = (this.#firstPrefix ?? this.#prefix) + state
    }
    // The first paragraph stands beside the marker, and text before a list is close to it.
    let from = 0
    const { children } = item
    for (const [at, child] of children.entries()) {
      if (!this.#isBlock(child)) continue
      if (at > from) this.#paragraph(children.slice(from, at))
      if (child.tag === 'ul' || child.tag === 'ol') this.#gap = Math.min(this.#gap, 1)
      this.#block(child)
      from = at + 1
    }
    if (from < children.length) this.#paragraph(children.slice(from))
  }

  /** Terms are items of a list, and what they mean is in them. */
  #definitions(list: ContentElement): void {
    this.#need(this.#isInItem ? 1 : 2)
    for (const { terms, meanings } of groupsOf(list)) {
      this.#item('- ', true, () => {
        this.#paragraph(terms.flatMap((term, at) => (at === 0 ? [termOf(term)] : [BREAK, termOf(term)])))
        for (const meaning of meanings) this.#separate(() => this.#blocks(meaning.children))
      })
    }
    this.#need(2)
  }

  #table(element: ContentElement): void {
    const table = tableOf(element)
    if (table === undefined) this.#layout(element)
    else this.#grid(table)
  }

  /** Cells one after the other, without line numbers of code. */
  #layout(element: ContentElement): void {
    for (const child of element.children) {
      if (typeof child === 'string') continue
      if (child.tag === 'td' || child.tag === 'th') {
        if (!LINE_NUMBERS.test(child.attribute('class') ?? ''))
          this.#separate(() => this.#blocks(child.children))
      } else if (child.tag === 'caption') this.#block(child)
      else this.#layout(child)
    }
  }

  #grid({ caption, rows, hasHeader }: Table): void {
    const lines: string[] = []
    let columns = 1
    for (const row of rows) columns = Math.max(columns, row.length)
    const head = hasHeader ? rows[0]! : []
    const names = Array.from({ length: columns }, (_, at) => this.#cell(head[at]))
    lines.push(`| ${names.join(' | ')} |`)
    const first = rows[hasHeader ? 1 : 0] ?? head
    lines.push(
      `| ${Array.from({ length: columns }, (_, at) => alignment(head[at] ?? first[at])).join(' | ')} |`,
    )
    for (const row of hasHeader ? rows.slice(1) : rows) {
      const cells = row.map((cell) => this.#cell(cell))
      if (cells.some((cell) => cell !== '')) lines.push(`| ${cells.join(' | ')} |`)
    }
    if (lines.length === 2 && names.every((name) => name === '')) return
    if (caption !== undefined) this.#block(caption)
    this.#lines(lines)
  }

  #cell(cell: ContentElement | undefined): string {
    if (cell === undefined) return ''
    const lines: string[] = []
    this.#cellLines(cell, lines)
    return lines.join('<br>').replace(/\|/g, '\\|')
  }

  #cellLines(element: ContentElement, lines: string[]): void {
    let run: ContentNode[] = []
    const flush = () => {
      lines.push(...linesOf(this.#inline.write(run)))
      run = []
    }
    for (const child of element.children) {
      if (!this.#isBlock(child)) {
        run.push(child)
        continue
      }
      flush()
      if (isSilent(child.tag)) continue
      const at = lines.length
      this.#cellLines(child, lines)
      if (child.tag === 'li' && lines.length > at) lines[at] = `• ${lines[at]}`
    }
    flush()
  }

  /** Writes blocks inside a quote or a list item. */
  #within(first: string, rest: string, write: () => void): void {
    if (this.#nested >= MOST_NESTED) {
      write()
      return
    }
    const outer = this.#prefix
    const outerFirst = this.#firstPrefix
    this.#nested++
    if (outerFirst === undefined) this.#blankPrefix = outer
    this.#firstPrefix = (outerFirst ?? outer) + first
    this.#prefix = outer + rest
    write()
    // If nothing was written, the prefix of an item around it is still due.
    if (this.#firstPrefix !== undefined) this.#firstPrefix = outerFirst
    this.#prefix = outer
    this.#nested--
  }

  /** A block of its own. */
  #lines(lines: readonly string[]): void {
    this.#need(2)
    this.#append(lines)
    this.#gap = 2
  }

  #append(lines: readonly string[]): void {
    if (this.#text !== '') {
      // The blank line before an item or a quote belongs to what is around it.
      const blank = (this.#firstPrefix === undefined ? this.#prefix : this.#blankPrefix).trimEnd()
      this.#text += this.#gap >= 2 ? `\n${blank}\n` : '\n'
    }
    this.#text += (this.#firstPrefix ?? this.#prefix) + lines[0]!
    this.#firstPrefix = undefined
    for (let at = 1; at < lines.length; at++) {
      const line = lines[at]!
      this.#text += `\n${line === '' ? this.#prefix.trimEnd() : this.#prefix + line}`
    }
    this.#gap = 1
  }
}

const BREAK = new ContentElement('br', [])

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => collapse(line).trim())
    .filter((line) => line !== '')
}

function oneLine(text: string): string {
  return collapse(text).trim()
}

/** The text of a `<pre>`, without line numbers. */
function verbatim(element: ContentElement): string {
  let text = ''
  for (const child of element.children) {
    if (typeof child === 'string') text += child
    else if (child.tag === 'br') text += '\n'
    else if (!isSilent(child.tag) && !LINE_NUMBERS.test(child.attribute('class') ?? '')) {
      text += verbatim(child)
      // Some highlighters make a block of every line.
      if ((child.tag === 'div' || child.tag === 'p' || child.tag === 'li') && !text.endsWith('\n'))
        text += '\n'
    }
  }
  return text
}

/** Without blank lines at the start and at the end. */
function withoutBlankLines(text: string): string {
  const first = text.search(/\S/)
  return first === -1 ? '' : text.slice(text.lastIndexOf('\n', first) + 1).trimEnd()
}

function hasParagraphs(item: ContentElement): boolean {
  let paragraphs = 0
  for (const child of item.children) {
    if (typeof child === 'string') continue
    if (child.tag === 'p') paragraphs++
    else if (child.tag === 'pre' || child.tag === 'blockquote' || child.tag === 'table') return true
  }
  return paragraphs > 1
}

/** The checkbox at the start of an item of a task list. */
function checkboxIn(item: ContentElement): ContentElement | undefined {
  let element: ContentElement | undefined = item
  for (let level = 0; element !== undefined && level < 3; level++) {
    const first: ContentNode | undefined = element.children.find(
      (child) => typeof child !== 'string' || child.trim() !== '',
    )
    if (first === undefined || typeof first === 'string') return undefined
    if (first.tag === 'input') return first.attribute('type') === 'checkbox' ? first : undefined
    element = first
  }
  return undefined
}

interface Definition {
  readonly terms: ContentElement[]
  readonly meanings: ContentElement[]
}

/** Terms with what follows them; a `div` may group them. */
function groupsOf(list: ContentElement, groups: Definition[] = []): Definition[] {
  for (const child of list.children) {
    if (typeof child === 'string') continue
    const last = groups.at(-1)
    if (child.tag === 'dt') {
      if (last === undefined || last.meanings.length > 0) groups.push({ terms: [child], meanings: [] })
      else last.terms.push(child)
    } else if (child.tag === 'dd') {
      if (last === undefined) groups.push({ terms: [], meanings: [child] })
      else last.meanings.push(child)
    } else if (child.tag === 'div') groupsOf(child, groups)
  }
  return groups
}

/** A term is strong, unless it is code already. */
function termOf(term: ContentElement): ContentElement {
  const strong = new ContentElement(
    /(?:^|\s)sig(?:\s|$)/.test(term.attribute('class') ?? '') ? 'code' : 'strong',
    [],
  )
  strong.children.push(...term.children)
  return strong
}

/** The dashes under the name of a column. */
function alignment(cell: ContentElement | undefined): string {
  const [, styled] = /text-align\s*:\s*(\w+)/.exec(cell?.attribute('style') ?? '') ?? []
  switch ((cell?.attribute('align') ?? styled ?? '').toLowerCase()) {
    case 'right':
      return '---:'
    case 'center':
      return ':---:'
    default:
      return '---'
  }
}
