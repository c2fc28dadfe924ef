/** Extracts headings. Building the DOM takes a hundred times as long as finding the links, so it runs in the workers. */

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
