/** A site behind a login form, with a token in the form and a log that proves the pauses. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LoopbackSite, Route } from '../loopback/site.js'
import { linksTo, site } from './support.js'

export const PASSWORD = 'open sesame & co'

export interface LoginSite extends LoopbackSite {
  /** Requests that sent the form: when, and whether they were accepted. */
  readonly logins: { readonly at: number; readonly accepted: boolean }[]
  /** When each request began and when its response ended, in order. */
  readonly visits: { readonly path: string; readonly start: number; end: number }[]
  /** Ends all sessions. */
  expire(): void
}

export interface LoginSiteOptions {
  readonly pages?: number
  /** Ends all sessions after so many pages of each. */
  readonly pagesPerSession?: number
  /** Replaces the form. */
  readonly form?: (token: string) => string
  /** What a page answers to a visitor without a session. Default: a redirect to the login page. */
  readonly stranger?: (response: ServerResponse) => void
  readonly more?: Record<string, Route>
  /** How long a page takes. */
  readonly ms?: number
}

const FORM = (token: string) => `<form><input name="q"></form>
  <form method="post" action="/login?step=2">
    <input type="hidden" name="token" value="${token}"><input name="user" value="">
    <input type="password" name="password"><input type="checkbox" name="remember" value="yes" checked>
    <input type="checkbox" name="news"><select name="lang"><option>de<option selected>ja</select>
    <button name="go" value="in">Log in</button><button name="other" value="no">Other</button>
  </form>`

export async function loginSite(options: LoginSiteOptions = {}): Promise<LoginSite> {
  const { pages = 8, pagesPerSession = Number.POSITIVE_INFINITY, form = FORM, more = {} } = options
  const stranger =
    options.stranger ?? ((response) => response.writeHead(302, { location: '/login?from=page' }).end())
  const tokens = new Set<string>()
  const sessions = new Map<string, number>()
  const logins: LoginSite['logins'] = []
  const visits: LoginSite['visits'] = []
  const paths = Array.from({ length: pages }, (_, i) => (i === 0 ? '/' : `/${i}`))

  const showForm = (response: ServerResponse, note = '') => {
    const token = `token-${tokens.size + 1}`
    tokens.add(token)
    response.setHeader('set-cookie', `seen=${token}; Path=/`)
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>Login</title>${note}${form(token)}`)
  }
  const logIn = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const sent = new URLSearchParams(Buffer.concat(chunks).toString())
    const expected = `token=${sent.get('token')}&remember=yes&lang=ja&go=in&user=alice&password=`
    const accepted =
      tokens.has(sent.get('token') ?? '') &&
      request.headers['content-type'] === 'application/x-www-form-urlencoded' &&
      request.headers.cookie?.includes(`seen=${sent.get('token')}`) === true &&
      sent.toString() === expected + new URLSearchParams({ p: PASSWORD }).toString().slice(2)
    logins.push({ at: performance.now(), accepted })
    if (!accepted) return showForm(response, '<p>Wrong password</p>')
    const sid = `sid-${logins.length}`
    sessions.set(sid, pagesPerSession)
    response.writeHead(303, { location: '/', 'set-cookie': `sid=${sid}; Path=/; HttpOnly` }).end()
  }
  const page: Route = (request, response) => {
    const sid = /sid=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? ''
    const left = sessions.get(sid) ?? 0
    if (left <= 0) return stranger(response)
    sessions.set(sid, left - 1)
    const body = `<title>in</title>${linksTo(...paths)}`
    const answer = () => response.writeHead(200, { 'content-type': 'text/html' }).end(body)
    if (options.ms === undefined) answer()
    else setTimeout(answer, options.ms)
  }
  const login: Route = (request, response) => {
    if (request.method === 'POST') void logIn(request, response)
    else showForm(response)
  }
  const logged = ([path, route]: [string, Route]): [string, Route] => [
    path,
    (request, response) => {
      const visit = { path, start: performance.now(), end: Number.POSITIVE_INFINITY }
      visits.push(visit)
      // Before the crawler can see the answer: an event would come too late on a busy machine.
      const end = response.end.bind(response) as (...args: unknown[]) => typeof response
      response.end = ((...args: unknown[]) => {
        visit.end = performance.now()
        return end(...args)
      }) as typeof response.end
      if (typeof route === 'function') route(request, response)
      else response.writeHead(200, { 'content-type': 'text/html' }).end(String(route))
    },
  ]
  const routes: [string, Route][] = [
    ['/robots.txt', 'User-agent: *\nDisallow: /login\n'],
    ['/login', login],
    ...paths.map((path): [string, Route] => [path, page]),
    ...Object.entries(more),
  ]
  const started = await site(Object.fromEntries(routes.map(logged)))
  return Object.assign(started, { logins, visits, expire: () => sessions.clear() })
}

/** The shortest pause between two visits, in ms. */
export function shortestPause({ visits }: LoginSite): number {
  return Math.min(...visits.slice(1).map((visit, i) => visit.start - visits[i]!.end))
}
