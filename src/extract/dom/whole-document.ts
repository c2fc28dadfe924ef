/**
 * Gives a parsed page the skeleton that every browser gives it. HTML lets authors leave out `html`, `head` and
 * `body`, and many do; linkedom builds only what is written, so that `document.body` would be empty and
 * `document.title` unknown on such a page.
 */

/** What stands in the head where no tag says where the head ends. */
const HEAD_ELEMENTS = new Set(['BASE', 'LINK', 'META', 'NOSCRIPT', 'SCRIPT', 'STYLE', 'TEMPLATE', 'TITLE'])

const ELEMENT = 1
const TEXT = 3

/** Adds `html`, `head` and `body` where they are missing, and moves what stands beside them inside. */
export function makeWhole(document: Document): void {
  const root = rootOf(document)
  if (root.children[0]?.tagName === 'HEAD' && isBody(root.children[1]) && root.children.length === 2) return
  const head = childNamed(root, (child) => child.tagName === 'HEAD') ?? document.createElement('head')
  const body = childNamed(root, isBody) ?? document.createElement('body')
  const { before, after } = strays(root, head, body)
  root.prepend(head)
  head.after(body)
  // One by one: a page may have more of them than a call may have arguments.
  for (const node of before) head.append(node)
  for (const node of after) body.append(node)
}

function rootOf(document: Document): Element {
  const written = childNamed(document, (child) => child.tagName === 'HTML')
  if (written !== undefined && document.children.length === 1) return written
  const root = written ?? document.createElement('html')
  for (const node of Array.from(document.childNodes)) {
    if (node !== root && (node.nodeType === ELEMENT || node.nodeType === TEXT)) root.append(node)
  }
  document.append(root)
  return root
}

/** What stands in neither: up to the body, or up to the first thing that is no matter of heads, it is the head's. */
function strays(root: Element, head: Element, body: Element): { before: Node[]; after: Node[] } {
  const before: Node[] = []
  const after: Node[] = []
  let inHead = true
  for (const node of Array.from(root.childNodes)) {
    if (node === head) continue
    inHead &&= node !== body && belongsToHead(node)
    if (node !== body) (inHead ? before : after).push(node)
  }
  return { before, after }
}

function belongsToHead(node: Node): boolean {
  if (node.nodeType === ELEMENT) return HEAD_ELEMENTS.has((node as Element).tagName)
  return node.nodeType !== TEXT || (node.textContent ?? '').trim() === ''
}

function isBody(element: Element | undefined): boolean {
  return element?.tagName === 'BODY' || element?.tagName === 'FRAMESET'
}

function childNamed(parent: ParentNode, matches: (child: Element) => boolean): Element | undefined {
  return Array.from(parent.children).find(matches)
}
