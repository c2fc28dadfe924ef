/** Plugins that run in workers, and say where they ran. */

import { isMainThread, threadId } from 'node:worker_threads'

export default {
  name: 'where',
  extract: (page) => ({
    data: { thread: threadId, isMain: isMainThread, anchors: page.document.querySelectorAll('a').length },
    links: [`/from-module?${page.depth}`],
  }),
}

export const scope = ({ url }) => !url.includes('forbidden')

export const unsendable = { name: 'unsendable', extract: () => ({ data: { make: () => 1 } }) }

export const fetcher = {
  fetch: ({ url }) => ({
    ok: true,
    status: 200,
    headers: {
      get: (name) => (name === 'content-type' ? 'text/html' : undefined),
      entries: () => [['content-type', 'text/html']],
    },
    body: new TextEncoder().encode(`<title>${url} of thread ${threadId}</title><a href="/next">n</a>`),
    wireBytes: 0,
    skippedBody: false,
  }),
}
