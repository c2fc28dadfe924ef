/** A page as plain values, to see whether anybody changed it. */

import type { Page } from '../extract/contract.js'

export function viewOf(page: Page): Record<string, unknown> {
  return {
    url: page.url,
    host: page.host,
    depth: page.depth,
    status: page.status,
    headers: [...page.headers.entries()],
    mediaType: page.mediaType,
    body: Buffer.from(page.body).toString('latin1'),
    content: page.content,
    title: page.title,
    links: page.links.map(({ url, tag, rel }) => ({ url, tag, rel })),
    robots: { ...page.robots },
    text: page.text,
    data: page.data,
    document: documentOf(page),
  }
}

/** The DOM as markup: an element taken out of it would be missing for everybody else. */
function documentOf(page: Page): string | undefined {
  try {
    return String(page.document)
  } catch {
    // No markup, no DOM.
    return undefined
  }
}

/** A copy that later changes do not reach; what cannot be copied (a function, say) is taken as it is. */
export function copyOf<T>(value: T): T {
  try {
    return structuredClone(value)
  } catch {
    return value
  }
}
