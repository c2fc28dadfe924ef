/** The headings of a page: building its DOM takes a hundred times as long as finding its links, so it is done in workers. */

import { threadId } from 'node:worker_threads'

export default {
  name: 'outline',
  extract(page) {
    const headings = [...page.document.querySelectorAll('h1, h2')].map((heading) =>
      heading.textContent.trim(),
    )
    return { data: { headings, thread: threadId } }
  },
}
