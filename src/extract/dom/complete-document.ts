/**
 * Completes a parsed page as browsers do. The tags of `html`, `head` and `body` are optional in HTML, and many pages omit
 * them; linkedom builds only what is written, so `document.body` would be empty and `document.title` unknown.
 */

/** Elements that belong to the head if no tag ends it. */
const HEAD_ELEMENTS = new Set(['BASE', 'LINK', 'META', 'NOSCRIPT', 'SCRIPT', 'STYLE', 'TEMPLATE', 'TITLE'])

const ELEMENT = 1
const TEXT = 3

/** Adds missing `html`, `head` and `body` elements, and moves misplaced nodes into them. */
export function completeDocument(document: Document): void {
  const root = rootOf(document)
  if (root.children[0]?.tagName === 'HEAD' && isBody(root.children[1]) && root.children.length === 2) return
  const head = childNamed(root, (child) => child.tagName === 'HEAD') ?? document.createElement('head')
  const body = childNamed(root, isBody) ?? document.createElement('body')
  const { before, after } = misplacedNodes(root, head, body)
  root.prepend(head)
  head.after(body)
  // One by one: there may be more nodes than a call can have arguments.
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

/** Nodes in neither: those before the body and before the first node that cannot be in a head belong to the head. */
function misplacedNodes(root: Element, head: Element, body: Element): { before: Node[]; after: Node[] } {
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
