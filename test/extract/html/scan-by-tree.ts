/** What the scanner should find, read from the tree that parse5 builds: the oracle of the differential tests. */

import { defaultTreeAdapter, html as names, parse, type DefaultTreeAdapterTypes as Tree } from 'parse5'
import { refreshUrl } from '../../../src/extract/html/meta-refresh.js'

import type { Link } from '../../../src/types.js'

/** What the scanner finds, with the title worked out. */
export interface TreeScan {
  links: Link[]
  base: string | undefined
  title: string | undefined
  robots: string | undefined
}

/** Builds the tree as a browser without scripting does, and walks it in document order. */
export function scanByTree(html: string): TreeScan {
  const links: Link[] = []
  const robots: string[] = []
  let base: string | undefined
  let title: string | undefined

  const visit = (element: Tree.Element, inTemplate: boolean) => {
    const attribute = (name: string) =>
      element.attrs.find((each) => each.name === name && each.prefix === undefined)?.value
    const add = (tag: string, href: string | undefined, rel?: string | undefined) => {
      if (href !== undefined) links.push({ href, tag, rel })
    }
    if (element.tagName === 'a') {
      const xlink = element.attrs.find(({ name, prefix }) => name === 'href' && prefix === 'xlink')?.value
      const isSvg = element.namespaceURI === names.NS.SVG
      return add('a', attribute('href') ?? (isSvg ? xlink : undefined), attribute('rel'))
    }
    if (element.namespaceURI !== names.NS.HTML) return
    switch (element.tagName) {
      case 'area':
      case 'link':
        return add(element.tagName, attribute('href'), attribute('rel'))
      case 'iframe':
      case 'frame':
        return add(element.tagName, attribute('src'))
      case 'base':
        if (!inTemplate) base ??= attribute('href')
        return
      case 'title':
        if (!inTemplate) title ??= textOf(element)
        return
      case 'meta': {
        const content = attribute('content')
        if (content === undefined) return
        const isRefresh = attribute('http-equiv')?.toLowerCase() === 'refresh'
        if (isRefresh) add('meta-refresh', refreshUrl(content))
        if (attribute('name')?.toLowerCase() === 'robots' && !inTemplate) robots.push(content)
      }
    }
  }

  // A list of what is still to visit, since made-up pages nest deeper than the call stack.
  const pending: { node: Tree.Node; inTemplate: boolean }[] = [
    { node: parse(html, { scriptingEnabled: false }), inTemplate: false },
  ]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, inTemplate } = next
    if (defaultTreeAdapter.isElementNode(node)) visit(node, inTemplate)
    const isTemplate = node.nodeName === 'template' && 'content' in node
    const parent = isTemplate ? (node as Tree.Template).content : node
    if (!('childNodes' in parent)) continue
    for (const child of parent.childNodes.toReversed()) {
      pending.push({ node: child, inTemplate: inTemplate || isTemplate })
    }
  }
  return { links, base, title, robots: robots.length === 0 ? undefined : robots.join(',') }
}

function textOf(element: Tree.Element): string {
  const text = element.childNodes.map((child) => ('value' in child ? child.value : '')).join('')
  return text.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, '')
}

/**
 * A scan without what only a tree builder does: it clones open formatting elements (`<a>` across a block), so that
 * the tree holds the same link twice where the page has it once.
 */
export function withoutRepeats(scan: TreeScan): TreeScan {
  const links = new Map(scan.links.map((link) => [JSON.stringify([link.tag, link.href, link.rel]), link]))
  return { ...scan, links: [...links.values()] }
}
