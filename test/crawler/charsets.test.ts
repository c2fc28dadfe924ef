/** Pages in other charsets than UTF-8 link to pages that only a query in their charset finds. */

import { expect, test } from 'vitest'
import { crawl, quick, site } from './support.js'

const inCharset = (charset: string, bytes: number[]) => ({
  headers: { 'content-type': `text/html; charset=${charset}` },
  body: Buffer.concat([Buffer.from('<a href="/s?q='), Buffer.from(bytes), Buffer.from('">')]),
})

test('one link as written leads elsewhere from a page in another charset', async () => {
  const { url, requests } = await site({
    '/': '<a href="/koi8"></a><a href="/cyrillic"></a><a href="/utf"></a>',
    '/cyrillic': inCharset('windows-1251', [0xc6]),
    '/koi8': inCharset('koi8-r', [0xf6]),
    '/utf': inCharset('utf-8', [0xd0, 0x96]),
    '/s': 'found',
  })
  await crawl(quick.seeds(url()))
  const asked = requests.map(({ path }) => path).filter((path) => path.startsWith('/s?'))
  expect(asked.toSorted()).toEqual(['/s?q=%C6', '/s?q=%D0%96', '/s?q=%F6'])
})
