/**
 * SVG and MathML inside a page. There `<title>`, `<style>` and `<script>` hold markup, not text, and `<![CDATA[`
 * means something; inside some of their elements, such as `foreignObject`, HTML's own rules hold again. The scanner
 * needs to know which rules hold, so this keeps the few open elements that decide it, and no others.
 *
 * It is entered with an `<svg>` or `<math>` and left with its end; a page without them never pays for it.
 */

/** In these elements of SVG, HTML rules hold. */
const HTML_IN_SVG: ReadonlySet<string> = new Set(['foreignobject', 'desc', 'title'])
/** In these elements of MathML, HTML rules hold. */
const HTML_IN_MATHML: ReadonlySet<string> = new Set(['mi', 'mo', 'mn', 'ms', 'mtext'])
/** The encodings with which `annotation-xml` holds HTML. */
const HTML_ENCODINGS: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml'])

/** Elements of HTML that end the foreign content in which they stand (`font` does, if it has a style). */
const BREAKING_OUT: ReadonlySet<string> = new Set(
  (
    'b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu ' +
    'meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var'
  ).split(' '),
)

/** Elements of HTML that hold nothing and so do not stay open. */
const VOID: ReadonlySet<string> = new Set(
  'area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr'.split(
    ' ',
  ),
)

/** Whether elements of this name, in small letters, hold nothing. */
export function isVoid(name: string): boolean {
  return VOID.has(name)
}

interface OpenElement {
  readonly name: string
  readonly language: 'svg' | 'math'
  readonly holdsHtml: boolean
  /** The outermost HTML element open inside, and how many of its name: both only decide what `<![CDATA[` means. */
  outermost: string | undefined
  outermostDepth: number
}

/** The open elements of SVG and MathML that decide which rules hold. */
export class ForeignContent {
  private readonly open: OpenElement[] = []
  /** How many of each name are open: an end tag that matches nothing must not search the stack in vain. */
  private openByName: Map<string, number> | undefined

  /** Whether any SVG or MathML element is open. */
  get entered(): boolean {
    return this.open.length > 0
  }

  /** Whether the rules for foreign content hold here, rather than HTML's. */
  get foreign(): boolean {
    const top = this.open.at(-1)
    return top !== undefined && !top.holdsHtml
  }

  /** Whether the innermost foreign element is of SVG. */
  get isSvg(): boolean {
    return this.open.at(-1)?.language === 'svg'
  }

  /** Whether `<![CDATA[` begins a section here, and not a mistaken comment. */
  get allowsCdata(): boolean {
    const top = this.open.at(-1)
    return top !== undefined && (!top.holdsHtml || top.outermost === undefined)
  }

  /** Whether `<name>` is read by HTML's rules although the rules for foreign content hold. */
  breaksOut(name: string): boolean {
    return BREAKING_OUT.has(name)
  }

  /** Whether `<svg>` begins a new SVG here: as in HTML, also directly in `annotation-xml`. */
  get beginsSvg(): boolean {
    return this.open.at(-1)?.name === 'annotation-xml'
  }

  /** `<svg>` or `<math>` where HTML rules hold. */
  enter(language: 'svg' | 'math'): void {
    this.push(language, language, false)
  }

  /** A start tag, not self-closing, where the rules for foreign content hold. */
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

  /** A start tag of HTML where HTML rules hold. */
  openHtml(name: string): void {
    const top = this.open.at(-1)
    if (top === undefined || VOID.has(name)) return
    top.outermost ??= name
    if (name === top.outermost) top.outermostDepth++
  }

  /** An end tag anywhere inside. */
  close(name: string): void {
    const top = this.open.at(-1)
    // No element of SVG has such a name, so it closes one of HTML around it, as `</div>` in `<div><svg></div>`.
    if (this.foreign && BREAKING_OUT.has(name)) this.breakOut()
    else if (this.openByName?.has(name)) while (this.pop() !== name);
    else if (top?.outermost === name && --top.outermostDepth === 0) top.outermost = undefined
  }

  /** Closes what is open up to where HTML rules hold. */
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
