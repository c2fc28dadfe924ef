/** The anchor of a heading: where `page.url#id` leads. */

import { type ContentElement, elementsIn, textIn } from '../tree.js'

/** Signs of links that only lead to their own heading. */
const PERMALINK = /^[\s#¶§⚓∞🔗\u200b]*$/u
/** Ancestors to look at. */
const MOST_STEPS = 20

/**
 * The id of a heading or, failing that, of an anchor in it, of the section that it begins, or of an anchor just before it.
 * `known` are the ids of the page.
 */
export function anchorOf(heading: ContentElement, known: ReadonlySet<string>): string | undefined {
  return own(heading) ?? inside(heading, known) ?? around(heading)
}

/** The ids and names of anchors that the elements of a page have. */
export function anchorsIn(root: ContentElement): Set<string> {
  const anchors = new Set<string>()
  for (const element of elementsIn(root)) {
    const id = own(element)
    if (id !== undefined) anchors.add(id)
    const name = element.tag === 'a' ? element.attribute('name') : undefined
    if (name) anchors.add(name)
  }
  return anchors
}

/** Whether an element is a link from a heading to itself, which is not part of its text. */
export function isPermalink(element: ContentElement): boolean {
  return element.tag === 'a' && element.attribute('href') !== undefined && PERMALINK.test(textIn(element))
}

function own(element: ContentElement): string | undefined {
  return element.attribute('id') || (element.tag === 'a' ? element.attribute('name') || undefined : undefined)
}

function inside(heading: ContentElement, known: ReadonlySet<string>): string | undefined {
  let linked: string | undefined
  for (const element of elementsIn(heading)) {
    if (element === heading) continue
    const id = own(element)
    if (id !== undefined) return id
    if (linked === undefined && isPermalink(element)) {
      const target = fragmentOf(element.attribute('href')!)
      if (target !== undefined && known.has(target)) linked = target
    }
  }
  return linked
}

/** Climbs as long as nothing but anchors is before the heading. */
function around(heading: ContentElement): string | undefined {
  let element = heading
  for (let step = 0; step < MOST_STEPS; step++) {
    const { parent } = element
    if (parent === undefined) return undefined
    for (let at = parent.children.lastIndexOf(element) - 1; at >= 0; at--) {
      const before = parent.children[at]!
      if (typeof before === 'string') {
        if (before.trim() !== '') return undefined
        continue
      }
      if (textIn(before).trim() !== '' || holdsContent(before)) return undefined
      const id = own(before) ?? [...elementsIn(before)].map(own).find((each) => each !== undefined)
      if (id !== undefined) return id
    }
    const id = own(parent)
    if (id !== undefined) return id
    element = parent
  }
  return undefined
}

function holdsContent(element: ContentElement): boolean {
  for (const { tag } of elementsIn(element)) if (CONTENT.has(tag)) return true
  return false
}

const CONTENT = new Set(['img', 'video', 'audio', 'iframe', 'table', 'hr', 'form', 'input', 'svg', 'object'])

function fragmentOf(href: string): string | undefined {
  const at = href.indexOf('#')
  if (at === -1) return undefined
  try {
    return decodeURIComponent(href.slice(at + 1)) || undefined
  } catch {
    return href.slice(at + 1)
  }
}
