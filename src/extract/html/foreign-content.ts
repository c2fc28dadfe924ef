/**
 * Foreign content: SVG and MathML inside a page. There, `<title>`, `<style>` and `<script>` contain markup, not text, and
 * CDATA sections are allowed; inside integration points, such as `foreignObject`, HTML's rules apply again. The scanner
 * must know which rules apply, so this class tracks the few open elements that decide it, and no others.
 *
 * `<svg>` or `<math>` enters it and the end tag leaves it; a page without them pays nothing.
 */

/** HTML integration points of SVG. */
const HTML_IN_SVG: ReadonlySet<string> = new Set(['foreignobject', 'desc', 'title'])
/** MathML text integration points. */
const HTML_IN_MATHML: ReadonlySet<string> = new Set(['mi', 'mo', 'mn', 'ms', 'mtext'])
/** With these encodings, `annotation-xml` is an HTML integration point. */
const HTML_ENCODINGS: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml'])

/** HTML elements that end the foreign content around them (so does `font` with a style attribute). */
const BREAKING_OUT: ReadonlySet<string> = new Set(
  (
    'b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu ' +
    'meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var'
  ).split(' '),
)

/** Void elements of HTML, which do not stay open. */
const VOID: ReadonlySet<string> = new Set(
  'area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr'.split(
    ' ',
  ),
)

/** Whether the name, in lower case, is that of a void element. */
export function isVoid(name: string): boolean {
  return VOID.has(name)
}

interface OpenElement {
  readonly name: string
  readonly language: 'svg' | 'math'
  readonly holdsHtml: boolean
  /** The outermost HTML element open inside and its nesting depth; they decide only whether CDATA is allowed. */
  outermost: string | undefined
  outermostDepth: number
}

/** The open elements of SVG and MathML that decide which rules apply. */
export class ForeignContent {
  private readonly open: OpenElement[] = []
  /** Number of open elements by name, so that an unmatched end tag does not search the stack. */
  private openByName: Map<string, number> | undefined

  /** Whether any SVG or MathML element is open. */
  get entered(): boolean {
    return this.open.length > 0
  }

  /** Whether the rules for foreign content apply, rather than HTML's. */
  get foreign(): boolean {
    const top = this.open.at(-1)
    return top !== undefined && !top.holdsHtml
  }

  /** Whether the innermost foreign element belongs to SVG. */
  get isSvg(): boolean {
    return this.open.at(-1)?.language === 'svg'
  }

  /** Whether `<![CDATA[` starts a CDATA section here rather than a bogus comment. */
  get allowsCdata(): boolean {
    const top = this.open.at(-1)
    return top !== undefined && (!top.holdsHtml || top.outermost === undefined)
  }

  /** Whether HTML's rules apply to `<name>` even in foreign content. */
  breaksOut(name: string): boolean {
    return BREAKING_OUT.has(name)
  }

  /** Whether `<svg>` starts a new SVG here: as in HTML, also directly in `annotation-xml`. */
  get beginsSvg(): boolean {
    return this.open.at(-1)?.name === 'annotation-xml'
  }

  /** `<svg>` or `<math>` where HTML's rules apply. */
  enter(language: 'svg' | 'math'): void {
    this.push(language, language, false)
  }

  /** A start tag, not self-closing, where the rules for foreign content apply. */
  openElement(name: string, encoding: string | undefined): void {
    const language = this.open.at(-1)!.language
    if (name === language) this.enter(language)
    else if (language === 'svg') {
      if (HTML_IN_SVG.has(name)) this.push(name, language, true)
    } else if (HTML_IN_MATHML.has(name)) {
      this.push(name, language, true)
    } else if (name === 'annotation-xml') {
      this.push(name, language, HTML_ENCODINGS.has(encoding?.toLowerCase() ?? ''))
    }
  }

  /** A start tag of HTML where HTML's rules apply. */
  openHtml(name: string): void {
    const top = this.open.at(-1)
    if (top === undefined || VOID.has(name)) return
    top.outermost ??= name
    if (name === top.outermost) top.outermostDepth++
  }

  /** An end tag anywhere inside. */
  close(name: string): void {
    const top = this.open.at(-1)
    // SVG has no element of this name, so it closes an HTML element around it: `</div>` in `<div><svg></div>`.
    if (this.foreign && BREAKING_OUT.has(name)) this.breakOut()
    else if (this.openByName?.has(name)) while (this.pop() !== name);
    else if (top?.outermost === name && --top.outermostDepth === 0) top.outermost = undefined
  }

  /** Closes elements up to one where HTML's rules apply. */
  breakOut(): void {
    while (this.foreign) this.pop()
  }

  private push(name: string, language: 'svg' | 'math', holdsHtml: boolean): void {
    this.open.push({ name, language, holdsHtml, outermost: undefined, outermostDepth: 0 })
    this.openByName ??= new Map()
    this.openByName.set(name, (this.openByName.get(name) ?? 0) + 1)
  }

  private pop(): string {
    const { name } = this.open.pop()!
    const openByName = this.openByName!
    const left = openByName.get(name)! - 1
    if (left === 0) openByName.delete(name)
    else openByName.set(name, left)
    return name
  }
}
