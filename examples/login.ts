/**
 * Crawls pages behind a login form: sends the form once, then crawls with the session cookie. For HTTP Basic
 * authentication use auth() instead, for an API key headers().
 *
 *     npx tsx examples/login.ts https://example.com/ alice secret
 */

import { Crawler } from 'kumo'

const [, , start = 'https://example.com/', user = 'alice', password = 'secret'] = process.argv

const response = await fetch(new URL('/login', start), {
  method: 'POST',
  body: new URLSearchParams({ user, password }),
  redirect: 'manual', // the redirect after a login carries the cookie
})
const session = response.headers.getSetCookie().map((cookie) => cookie.split(';')[0])
if (session.length === 0) throw new Error(`login failed: HTTP ${response.status}, no cookie was set`)

const summary = await new Crawler()
  .seeds(start)
  .headers({ cookie: session.join('; ') }) // sent to the origins of the seeds only
  .exclude('/logout') // a link that ends the session
  .limit({ pages: 100 })
  .on('page', ({ url, title }) => console.log(url, title))
  .run()

console.log(`${summary.pages} pages as ${user}`)
