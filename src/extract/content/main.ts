/**
 * Finds the main content of a page: what a reader came for, without navigation, headers, footers, cookie banners, comments
 * and links to other pages.
 *
 * 1. Weigh every element: its text, the part of it in links, and its prose, that is text in blocks that look written. What
 *    is hidden, or what its name or role says is something else, has no weight, unless it holds most of the page.
 * 2. Choose the root: the innermost element that is marked as the content or else holds nearly all prose.
 * 3. Copy it without the elements that have no weight and, in articles, without lists of links.
 *
 * If too little is left, the rules were wrong for this page, and it is tried again with fewer of them. All steps are linear
 * in the size of the tree.
 */

import { isArticle } from './article-signs.js'
import {
  isHidden,
  isNever,
  isPermalink,
  isTaskBox,
  namesOf,
  saysCaption,
  saysContent,
  saysNever,
  saysNotContent,
} from './hints.js'
import { ContentElement, elementsIn, firstElement, textIn } from './tree.js'
import { collapse, isInline, isSilent } from './tree-text.js'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Blocks whose own text may be prose. */
const PROSE_BLOCKS = words('p pre blockquote li dd td div section article main body center #document')
/** Elements whose names tell something. Those of cells and rows are about their values, those in code about its grammar. */
const NAMED = words(
  'div section ul ol p span table header form figure h1 h2 h3 h4 h5 h6 li hgroup center details time address dl aside font b small',
)
/** A part of the content at most, never its root. */
const NO_ROOT = words('p pre li td th dd dt table tbody tr ul ol dl blockquote figure h1 h2 h3 h4 h5 h6')

/** Characters of own text from which a block can be prose. */
const LEAST_PROSE = 25
/** Prose from which a block of a manual is content whatever its name says. */
const MUCH_PROSE = 100
/** Share of the page's prose from which a name does not count, and from which even a name of comments does not. */
const MOST_OF_PAGE = 0.5
const NEARLY_ALL = 0.8
/** Share of the prose that an element marked as content must have; a marked element inside it must have more. */
const LEAST_MARKED = 0.4
const LEAST_MARKED_WITHIN = 0.8
/** Share of the prose that a root must keep. */
const KEPT_OF_ARTICLE = 0.9
const KEPT_OF_OTHERS = 0.99
/** Share of text in links from which a block is a list of links; paragraphs and items have more of them. */
const LINK_LIST = 0.6
const LINK_LINE = 0.8
/** Characters: less may be too little if the page has several times as much. */
const LITTLE = 200
const SEVERAL = 4
/** Characters of a line that introduces a list of links. */
const SHORT_LEAD = 40
const SHORT_NOTICE = 30
/** Characters of a heading that may be a title. */
const SHORTEST_TITLE = 15

const ADVERT =
  /^\s*(?:advert(?:isements?|ising)?|ad|sponsored|anzeige|werbung|publicidad|publicité|pubblicità|publicidade|iklan|reklama?|реклама|広告|广告)\s*$/i

/** The main content of a page. */
export interface Main {
  /**
   * A tree of its own: an element named `main` that contains copies of the elements that belong to the content, in document
   * order. Attributes and texts are shared with the tree of the page.
   */
  readonly root: ContentElement
  /** Elements of it that are not part of the running text: the title of an article and the captions of its images. */
  readonly besides: ReadonlySet<ContentElement>
}

/** How much is left out: what names and links say, only what elements and roles say, or nothing that can be read. */
const STRICT = 0
const LENIENT = 1
const ALL = 2

/** Finds the main content. The tree of the page stays as it is. */
export function findMain(document: ContentElement): Main {
  const body = firstElement(document, 'body') ?? document
  const article = isArticle(document, body)
  const title = firstElement(document, 'title')
  const strict = new MainFinder(body, article, title === undefined ? '' : normalized(textIn(title)), STRICT)
  const main = strict.run()
  if (!strict.foundLittle) return main
  const lenient = new MainFinder(body, false, '', LENIENT)
  const more = lenient.run()
  if (lenient.kept > 0) return lenient.kept > SEVERAL * strict.kept ? more : main
  return new MainFinder(body, false, '', ALL).run()
}

/** What an element contains that may be content. */
class Mass {
  /** Characters of text. */
  text = 0
  /** Of these, in links. */
  links = 0
  /** Of these, in blocks that look like written text. */
  prose = 0
  /** Prose that includes what is left out. */
  allProse = 0
  isOut = false
}

class MainFinder {
  /** Characters that were copied. */
  kept = 0
  readonly #masses = new Map<ContentElement, Mass>()
  readonly #besides = new Set<ContentElement>()
  /** Elements that are never content are not here; decided once, because it is asked twice. */
  #allProse = 0
  /** Depth in code. */
  #verbatim = 0

  constructor(
    readonly body: ContentElement,
    readonly isArticle: boolean,
    readonly title: string,
    readonly level: number,
  ) {}

  run(): Main {
    if (this.level === STRICT) this.#allProse = allProseOf(this.body).prose
    this.#weigh(this.body)
    const root = this.level === STRICT ? this.#root() : this.body
    const copy = new ContentElement('main', NO_ATTRIBUTES)
    this.#copy(root, copy)
    if (this.level === STRICT) this.#addTitle(root, copy)
    return { root: copy, besides: this.#besides }
  }

  /** Whether the page has much more text than was found. */
  get foundLittle(): boolean {
    return this.kept < LITTLE
  }

  #weigh(element: ContentElement): Mass {
    const mass = new Mass()
    this.#masses.set(element, mass)
    let ownText = 0
    let ownLinks = 0
    for (const child of element.children) {
      if (typeof child === 'string') {
        const { length } = child.trim()
        ownText += length
        mass.text += length
        continue
      }
      if (this.#isNever(child)) continue
      const isVerbatim = child.tag === 'pre' || child.tag === 'code'
      if (isVerbatim) this.#verbatim++
      const inner = this.#weigh(child)
      if (isVerbatim) this.#verbatim--
      mass.allProse += inner.allProse
      if (this.#isOut(child, inner)) {
        inner.isOut = true
        continue
      }
      mass.text += inner.text
      mass.links += inner.links
      mass.prose += inner.prose
      if (isInline(child.tag)) {
        ownText += inner.text
        ownLinks += inner.links
      }
    }
    if (element.tag === 'a') mass.links = mass.text
    else if (isProse(element.tag, ownText, ownLinks)) {
      mass.prose += ownText - ownLinks
      mass.allProse += ownText - ownLinks
    }
    return mass
  }

  #isNever(element: ContentElement): boolean {
    if (this.level === ALL) return isSilent(element.tag)
    if (element.tag === 'input') return !isTaskBox(element)
    // In a manual, an aside is a note.
    if (element.tag === 'aside' && !this.isArticle && !isHidden(element)) return false
    return isNever(element)
  }

  /** Whether the element's names say that it is something else. */
  #isOut(element: ContentElement, mass: Mass): boolean {
    if (this.level !== STRICT || this.#verbatim > 0 || !NAMED.has(element.tag)) return false
    if (element.tag === 'span' && !this.isArticle) return false
    // In a manual, an id is an anchor: `<section id="comments">` may be about comments in code.
    const names = namesOf(element, this.isArticle)
    if (!saysNotContent(names) || saysContent(names)) return false
    const never = saysNever(names)
    if (!this.isArticle && !never && mass.prose >= MUCH_PROSE && mass.links < LEAST_MARKED * mass.text)
      return false
    return mass.allProse <= (never ? NEARLY_ALL : MOST_OF_PAGE) * this.#allProse
  }

  #root(): ContentElement {
    const kept = this.isArticle ? KEPT_OF_ARTICLE : KEPT_OF_OTHERS
    for (let root = this.#marked() ?? this.body; ; ) {
      const { prose, text } = this.#massOf(root)!
      const next = root.children.find((child): child is ContentElement => {
        const mass = typeof child === 'string' ? undefined : this.#massOf(child)
        if (mass === undefined || mass.prose < kept * prose) return false
        return this.isArticle || mass.text >= kept * text
      })
      if (next === undefined || prose === 0 || isInline(next.tag) || NO_ROOT.has(next.tag)) return root
      root = next
    }
  }

  /** The innermost element that is marked as the main content and holds enough of the page. */
  #marked(): ContentElement | undefined {
    const page = this.#massOf(this.body)!
    let best: ContentElement | undefined
    let least = LEAST_MARKED * page.prose
    for (const element of elementsIn(this.body)) {
      const mass = this.#massOf(element)
      if (mass === undefined || NO_ROOT.has(element.tag) || !this.#isMarked(element)) continue
      const isIndex = best === undefined && !this.isArticle && mass.text >= MOST_OF_PAGE * page.text
      if (mass.prose < least && !isIndex) continue
      best = element
      least = LEAST_MARKED_WITHIN * mass.prose
    }
    return best
  }

  #isMarked(element: ContentElement): boolean {
    if (element.tag === 'main' || element.tag === 'article') return true
    if (element.attributes.length === 0) return false
    if (element.attribute('role') === 'main' || element.attribute('itemprop') === 'articleBody') return true
    return this.isArticle && saysContent(namesOf(element, true))
  }

  /** Undefined for an element that is left out. */
  #massOf(element: ContentElement): Mass | undefined {
    const mass = this.#masses.get(element)
    return mass?.isOut ? undefined : mass
  }

  #copy(from: ContentElement, to: ContentElement): void {
    let lastMass: Mass | undefined
    for (const child of from.children) {
      if (typeof child === 'string') {
        this.kept += child.trim().length
        to.children.push(child)
        continue
      }
      const mass = this.#massOf(child)
      if (mass === undefined) continue
      if (this.isArticle && this.#isAside(child, mass)) {
        if (lastMass !== undefined && lastMass.text < 2 * SHORT_LEAD) dropLead(to)
        continue
      }
      const copy = new ContentElement(child.tag, child.attributes)
      if (this.isArticle && this.#isBeside(child)) this.#besides.add(copy)
      to.append(copy)
      if (!isPermalink(child)) this.#copy(child, copy)
      lastMass = mass
    }
  }

  /** A list of links to other pages, or a notice of an advertisement. */
  #isAside({ tag, children }: ContentElement, { text, links }: Mass): boolean {
    if (isInline(tag) || text === 0) return false
    if (links > (tag === 'p' || tag === 'li' ? LINK_LINE : LINK_LIST) * text) return true
    return text < SHORT_NOTICE && children.some((child) => typeof child === 'string' && ADVERT.test(child))
  }

  #isBeside(element: ContentElement): boolean {
    if (element.tag === 'h1' || element.tag === 'figcaption') return true
    if (element.tag === 'h2') {
      const text = normalized(textIn(element))
      return text.length >= SHORTEST_TITLE && this.title.startsWith(text)
    }
    return saysCaption(element.attribute('class') ?? '')
  }

  /** Puts the heading that repeats the title of the page in front, if it stands before the root. */
  #addTitle(root: ContentElement, copy: ContentElement): void {
    if (this.title === '' || firstElement(copy, 'h1') !== undefined) return
    for (const element of elementsIn(this.body)) {
      if (element === root) return
      if (element.tag !== 'h1') continue
      const text = normalized(textIn(element))
      if (text === '' || !this.title.startsWith(text)) continue
      const heading = new ContentElement('h1', element.attributes)
      heading.children.push(text)
      heading.parent = copy
      copy.children.unshift(heading)
      this.#besides.add(heading)
      return
    }
  }
}

const NO_ATTRIBUTES: readonly string[] = Object.freeze([])

function isProse(tag: string, ownText: number, ownLinks: number): boolean {
  return ownText >= LEAST_PROSE && PROSE_BLOCKS.has(tag) && ownLinks < ownText / 2
}

/** The prose of an element whatever names say. Text and links are those of inline elements only. */
function allProseOf(element: ContentElement): Mass {
  const mass = new Mass()
  let ownText = 0
  let ownLinks = 0
  for (const child of element.children) {
    if (typeof child === 'string') ownText += child.trim().length
    else if (!isNever(child)) {
      const inner = allProseOf(child)
      mass.prose += inner.prose
      ownText += inner.text
      ownLinks += inner.links
    }
  }
  if (isInline(element.tag)) {
    mass.text = ownText
    mass.links = element.tag === 'a' ? ownText : ownLinks
  } else if (isProse(element.tag, ownText, ownLinks)) mass.prose += ownText - ownLinks
  return mass
}

/** Removes a heading such as "Read more", whose list of links was left out. */
function dropLead(parent: ContentElement): void {
  const { children } = parent
  let at = children.length - 1
  while (at >= 0 && isBlank(children[at]!)) at--
  const last = children[at]
  if (last === undefined || typeof last === 'string') return
  if (/^h[2-6]$/.test(last.tag) || (!isInline(last.tag) && isLead(textIn(last).trim()))) children.length = at
}

function isBlank(node: ContentElement | string): boolean {
  return typeof node === 'string' && node.trim() === ''
}

function isLead(text: string): boolean {
  return text !== '' && text.length < SHORT_LEAD && !/[.!?。]$/.test(text)
}

function normalized(text: string): string {
  return collapse(text).trim()
}
