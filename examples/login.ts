/**
 * Crawls pages behind a login form: sends the form once, keeps the session, and logs in again when it is over.
 *
 *     npx tsx examples/login.ts https://example.com/ alice secret
 */

import { Crawler, session } from 'kumo'

const [, , start = 'https://example.com/', user = 'alice', password = 'secret'] = process.argv

const summary = await new Crawler()
  .seeds(start)
  .use(session({ login: new URL('/login', start), fields: { user, password } }))
  .exclude('/logout') // a link that ends the session
  .limit({ pages: 100 })
  .on('page', ({ url, title }) => console.log(url, title))
  .run()

console.log(`${summary.pages} pages as ${user}`)
