/**
 * All pages of one domain, and elsewhere only pages in one language.
 *
 *     npx tsx examples/language-scope.ts https://example.jp/ jp ja
 */

import { any, Crawler, domain, pageLanguage } from 'kumo'

const [, , start = 'https://example.jp/', top = 'jp', language = 'ja'] = process.argv

await new Crawler()
  .seeds(start)
  .scope(any(domain(top), pageLanguage(language)))
  .limit({ pages: 100 })
  .on('page', ({ url, title }) => console.log('page', url, title))
  .on('skip', ({ url, reason }) => console.log(reason, url)) // `language`: fetched, but neither delivered nor followed
  .run()
