/**
 * RDFa Lite, and what pages use of RDFa beyond it: `about`, `rel`, `rev`, `content`. It follows the processing sequence of
 * RDFa Core 1.1 for HTML. Values are plain strings: languages and datatypes are not kept. `rel` counts only with a prefix
 * or an address, because words such as `stylesheet` say nothing about a thing.
 */

import { owned } from '../../../owned.js'
import type { ContentElement } from '../tree.js'
import type { StructuredItem, StructuredValue } from './contract.js'
import { type Budget, mention, PropertyBag } from './items.js'
import { shortName } from './names.js'
import { isOpenGraph } from './open-graph.js'

/** Prefixes that pages need not declare: the ones in use of RDFa's initial context. */
const PREFIXES: Readonly<Record<string, string>> = {
  cc: 'http://creativecommons.org/ns#',
  content: 'http://purl.org/rss/1.0/modules/content/',
  ctag: 'http://commontag.org/ns#',
  dc: 'http://purl.org/dc/terms/',
  dc11: 'http://purl.org/dc/elements/1.1/',
  dcterms: 'http://purl.org/dc/terms/',
  foaf: 'http://xmlns.com/foaf/0.1/',
  gr: 'http://purl.org/goodrelations/v1#',
  ical: 'http://www.w3.org/2002/12/cal/icaltzd#',
  og: 'http://ogp.me/ns#',
  owl: 'http://www.w3.org/2002/07/owl#',
  prov: 'http://www.w3.org/ns/prov#',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  rev: 'http://purl.org/stuff/rev#',
  schema: 'http://schema.org/',
  sioc: 'http://rdfs.org/sioc/ns#',
  skos: 'http://www.w3.org/2004/02/skos/core#',
  v: 'http://rdf.data-vocabulary.org/#',
  vcard: 'http://www.w3.org/2006/vcard/ns#',
  void: 'http://rdfs.org/ns/void#',
  xhv: 'http://www.w3.org/1999/xhtml/vocab#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
}
const RELEVANT = new Set(['vocab', 'typeof', 'property', 'resource', 'about', 'prefix', 'rel', 'rev'])
const ABSOLUTE = /^[a-z][a-z\d+.-]*:/i
/** Prefixes that a page may declare. */
const MOST_PREFIXES = 1000

type Prefixes = ReadonlyMap<string, string>

/** What an element hands down to the elements in it. */
interface Context {
  readonly subject: string
  readonly object: string
  /** Properties that wait for their object: the next subject further in. */
  readonly incomplete: readonly Incomplete[]
  readonly vocabulary: string | undefined
  readonly prefixes: Prefixes
}

interface Incomplete {
  readonly name: string
  readonly isReverse: boolean
}

/** Another thing, by its id. */
class Reference {
  constructor(readonly id: string) {}
}

class Thing {
  readonly types = new Set<string>()
  readonly bag = new PropertyBag<string | Reference>()
  isObject = false
}

/** The things that a page describes, in order. `url` is that of the page; `resolve` makes URLs absolute. */
export function rdfaItems(
  root: ContentElement,
  url: string,
  resolve: (url: string) => string,
  budget: Budget,
): StructuredItem[] {
  return new RdfaReader(url, resolve, budget).run(root)
}

class RdfaReader {
  readonly #things = new Map<string, Thing>()
  #blanks = 0
  #prefixesLeft = MOST_PREFIXES

  constructor(
    readonly url: string,
    readonly resolve: (url: string) => string,
    readonly budget: Budget,
  ) {}

  run(root: ContentElement): StructuredItem[] {
    const { url } = this
    const prefixes = new Map(Object.entries(PREFIXES))
    this.#children(root, { subject: url, object: url, incomplete: [], vocabulary: undefined, prefixes })
    return this.#items()
  }

  #children(element: ContentElement, context: Context): void {
    for (const child of element.children) if (typeof child !== 'string') this.#element(child, context)
  }

  #element(element: ContentElement, around: Context): void {
    if (!isRelevant(element)) {
      this.#children(element, around)
      return
    }
    const context = this.#withNames(element, around)
    const about = this.#address(element.attribute('about'), context)
    const property = element.attribute('property')
    const content = element.attribute('content')
    const datatype = element.attribute('datatype')
    const target = this.#target(element, context)
    const isTyped = element.attribute('typeof') !== undefined
    const rels = this.#relations(element.attribute('rel'), context)
    const revs = this.#relations(element.attribute('rev'), context)
    const hasRelation = rels.length + revs.length > 0
    const isRoot = element.tag === 'html' || element.tag === 'head' || element.tag === 'body'

    let subject: string | undefined
    let object: string | undefined
    let typed: string | undefined
    let passesOn = false
    if (hasRelation) {
      subject = about ?? context.object
      object = target ?? (isTyped && about === undefined ? this.#blank() : undefined)
      if (isTyped) typed = about ?? object
    } else if (property !== undefined && content === undefined && datatype === undefined) {
      subject = about ?? context.object
      if (isTyped) {
        typed = about ?? (isRoot ? context.object : (target ?? this.#blank()))
        object = typed
      }
    } else {
      subject = about ?? target
      if (subject === undefined) {
        if (isRoot || !isTyped) subject = context.object
        else subject = this.#blank()
        passesOn = !isTyped && property === undefined
      }
      if (isTyped) typed = subject
    }

    if (typed !== undefined) {
      for (const type of this.#names(element.attribute('typeof'), context)) this.#thing(typed).types.add(type)
      this.#thing(typed)
    }
    const incomplete: Incomplete[] = []
    for (const [names, isReverse] of [
      [rels, false],
      [revs, true],
    ] as const) {
      for (const name of names) {
        if (object === undefined) incomplete.push({ name, isReverse })
        else this.#link({ name, isReverse }, subject, object)
      }
    }
    if (incomplete.length > 0) object = this.#blank()
    for (const name of this.#names(property, context)) {
      if (element.tag === 'meta' && isOpenGraph(property!)) continue
      const value = this.#value(element, content, datatype, hasRelation, target, typed, about)
      this.#add(subject, name, value)
    }
    if (!passesOn) for (const each of around.incomplete) this.#link(each, around.subject, subject)
    this.#children(
      element,
      passesOn
        ? { ...context, incomplete: around.incomplete }
        : { ...context, subject, object: object ?? subject, incomplete },
    )
  }

  #value(
    element: ContentElement,
    content: string | undefined,
    datatype: string | undefined,
    hasRelation: boolean,
    target: string | undefined,
    typed: string | undefined,
    about: string | undefined,
  ): string | Reference {
    if (content !== undefined) return owned(content.trim())
    const datetime = element.tag === 'time' ? element.attribute('datetime') : undefined
    if (datetime !== undefined) return owned(datetime)
    if (datatype !== undefined) return this.budget.textOf(element)
    if (!hasRelation && (typed === undefined || about !== undefined) && target !== undefined)
      return new Reference(target)
    if (typed !== undefined && about === undefined) return new Reference(typed)
    return this.budget.textOf(element)
  }

  #withNames(element: ContentElement, around: Context): Context {
    const vocab = element.attribute('vocab')
    let prefixes = around.prefixes as Map<string, string>
    const declared: [string, string][] = []
    const words = (element.attribute('prefix') ?? '').trim().split(/\s+/)
    for (let at = 0; at + 1 < words.length; at += 2) declared.push([words[at]!, words[at + 1]!])
    const { attributes } = element
    for (let at = 0; at < attributes.length; at += 2) {
      if (attributes[at]!.startsWith('xmlns:')) declared.push([attributes[at]!.slice(6), attributes[at + 1]!])
    }
    for (const [prefix, address] of declared) {
      if (--this.#prefixesLeft < 0) break
      if (prefixes === around.prefixes) prefixes = new Map(prefixes)
      prefixes.set(prefix.replace(/:$/, '').toLowerCase(), address)
    }
    const vocabulary = vocab === undefined ? around.vocabulary : vocab.trim() || undefined
    return { ...around, vocabulary, prefixes }
  }

  /** What an element points to. */
  #target(element: ContentElement, context: Context): string | undefined {
    const resource = this.#address(element.attribute('resource'), context)
    if (resource !== undefined) return resource
    const url = element.attribute('href') ?? element.attribute('src')
    return url === undefined ? undefined : this.resolve(url)
  }

  #address(written: string | undefined, { prefixes }: Context): string | undefined {
    if (written === undefined) return undefined
    const safe = /^\[(.*)\]$/.exec(written.trim())
    const text = safe ? safe[1]! : written.trim()
    if (text.startsWith('_:')) return text
    const whole = expanded(text, prefixes)
    return whole ?? (safe ? undefined : this.resolve(text))
  }

  #names(written: string | undefined, { vocabulary, prefixes }: Context): string[] {
    const names: string[] = []
    for (const word of (written ?? '').split(/\s+/)) {
      if (word === '') continue
      const whole = expanded(word, prefixes) ?? (ABSOLUTE.test(word) ? word : undefined)
      if (whole !== undefined) names.push(shortName(whole))
      else if (vocabulary !== undefined && !word.includes(':')) names.push(shortName(vocabulary + word))
    }
    return names
  }

  #relations(written: string | undefined, context: Context): string[] {
    if (!written?.includes(':')) return []
    return this.#names(written, { ...context, vocabulary: undefined })
  }

  #link({ name, isReverse }: Incomplete, subject: string, target: string): void {
    if (isReverse) this.#add(target, name, new Reference(subject))
    else this.#add(subject, name, new Reference(target))
  }

  #add(subject: string, name: string, value: string | Reference): void {
    if (value === '' || !this.budget.takes()) return
    this.#thing(subject).bag.add(name, value)
  }

  #thing(id: string): Thing {
    const known = this.#things.get(id)
    if (known !== undefined) return known
    const thing = new Thing()
    this.#things.set(id, thing)
    return thing
  }

  #blank(): string {
    return `_:${++this.#blanks}`
  }

  /** Things as items: a thing that another one refers to is part of it. */
  #items(): StructuredItem[] {
    for (const [id, { bag }] of this.#things) {
      for (const value of Object.values(bag.properties).flat()) {
        if (value instanceof Reference && value.id !== id) {
          const thing = this.#things.get(value.id)
          if (thing) thing.isObject = true
        }
      }
    }
    const used = new Set<string>()
    const items: StructuredItem[] = []
    for (const [id, thing] of this.#things) if (!thing.isObject) items.push(this.#item(id, thing, used, []))
    // What is left refers to itself in a circle.
    for (const [id, thing] of this.#things) if (!used.has(id)) items.push(this.#item(id, thing, used, []))
    return items.filter(({ types, properties }) => types.length > 0 || Object.keys(properties).length > 0)
  }

  #item(id: string, thing: Thing, used: Set<string>, path: readonly string[]): StructuredItem {
    used.add(id)
    const bag = new PropertyBag<StructuredValue>()
    const within = [...path, id]
    for (const [name, values] of Object.entries(thing.bag.properties)) {
      for (const value of values) bag.add(name, this.#plain(value, used, within))
    }
    const types = [...thing.types].map(owned)
    return {
      syntax: 'rdfa',
      types,
      id: id.startsWith('_:') ? undefined : owned(id),
      properties: bag.properties,
    }
  }

  #plain(value: string | Reference, used: Set<string>, path: readonly string[]): StructuredValue {
    if (typeof value === 'string') return value
    const thing = this.#things.get(value.id)
    if (thing === undefined) return owned(value.id)
    if (path.includes(value.id) || path.length > MOST_NESTING || !this.budget.takes())
      return mention('rdfa', owned(value.id))
    return this.#item(value.id, thing, used, path)
  }
}

/** Things within things. */
const MOST_NESTING = 50

function isRelevant({ attributes }: ContentElement): boolean {
  for (let at = 0; at < attributes.length; at += 2) {
    const name = attributes[at]!
    if (RELEVANT.has(name) || name.startsWith('xmlns:')) return true
  }
  return false
}

/** A name with a known prefix, in full. */
function expanded(text: string, prefixes: Prefixes): string | undefined {
  const colon = text.indexOf(':')
  if (colon === -1 || text.startsWith('//', colon + 1)) return undefined
  const address = prefixes.get(text.slice(0, colon).toLowerCase())
  return address === undefined ? undefined : address + text.slice(colon + 1)
}
