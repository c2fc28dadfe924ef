/** A page as plain values, to check whether it was changed. */

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

/** The DOM as markup, so that removed elements are noticed. */
function documentOf(page: Page): string | undefined {
  try {
    return String(page.document)
  } catch {
    // No markup, no DOM.
    return undefined
  }
}

/**
 * A copy that is independent of later changes; values that cannot be copied, such as functions, are kept as they are.
 */
export function copyOf<T>(value: T): T {
  try {
    return structuredClone(value)
  } catch {
    return value
  }
}
