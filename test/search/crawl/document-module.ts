/** An indexing hook with a function, as a module that each worker loads: the same page of two hosts is one document. */

import { searchIndex } from 'kumo/search'

export default ({ index }: { index: string }) =>
  searchIndex<{ size: number }>(index, {
    sync: false,
    fields: { size: 'number' },
    document: ({ url, title, data }) => ({
      url,
      id: new URL(url).pathname,
      title: `my ${title}`,
      fields: { size: data.size },
    }),
  })
