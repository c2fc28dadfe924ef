import { describe, expect, it } from 'vitest'
import { fetcherSuite } from '../../src/conformance/fetcher.js'
import type { Fetcher, Outcome } from '../../src/fetch/contract.js'
import { httpFetcher } from '../../src/fetch/http/http.js'
import type { CrawlRequest } from '../../src/types.js'
import { echoServer } from '../fetch/echo.js'
import { rawServer, reply } from '../fetch/support.js'
import { failuresOf } from './collect.js'

async function suiteUrls() {
  const server = await rawServer(({ socket, path }) => {
    if (path === '/page') socket.write(reply('<p>A page</p>', { 'X-Case': 'Mixed' }))
    else if (path === '/missing') socket.write(reply('<p>Nothing</p>', {}, '404 Not Found'))
    else if (path === '/redirect') socket.write(reply('<p>There</p>', { Location: '/page' }, '302 Found'))
  })
  return {
    page: server.url('/page'),
    missing: server.url('/missing'),
    redirect: server.url('/redirect'),
    hanging: server.url('/hanging'),
    // Nothing listens on the port that is reserved for a service nobody runs.
    unreachable: 'http://127.0.0.1:1/',
    echo: (await echoServer()).url('/echo'),
  }
}

const sound = () => httpFetcher({ userAgent: 'Kumo/0.1', connectionsPerHost: 4 })

/** A sound fetcher in which one thing is wrong. */
function mutant(change: (inner: ReturnType<typeof sound>) => Partial<Fetcher>): () => Fetcher {
  return () => {
    const inner = sound()
    return {
      fetch: (request, context) => inner.fetch(request, context),
      close: () => inner.close(),
      ...change(inner),
    }
  }
}

/** A fetcher whose outcomes are changed on their way. */
const changing = (change: (outcome: Outcome) => Outcome) =>
  mutant((inner) => ({
    fetch: async (request, context) => change(await inner.fetch(request, context)),
  }))

/** A fetcher whose requests are changed on their way. */
const requesting = (change: (request: CrawlRequest) => CrawlRequest) =>
  mutant((inner) => ({ fetch: (request, context) => inner.fetch(change(request), context) }))

const MUTANTS: Record<string, () => Fetcher> = {
  'throws what it should return': changing((outcome) => {
    if (!outcome.ok) throw new Error(outcome.message)
    return outcome
  }),
  'follows redirects': mutant((inner) => ({
    async fetch(request, context) {
      const outcome = await inner.fetch(request, context)
      const location = outcome.ok && outcome.status < 400 ? outcome.headers.get('location') : undefined
      if (!location) return outcome
      return inner.fetch({ ...request, url: new URL(location, request.url).href }, context)
    },
  })),
  'takes an error status for a failure': changing((outcome) =>
    outcome.ok && outcome.status >= 400 ? { ok: false, code: 'http-status', message: 'Not found.' } : outcome,
  ),
  'keeps the body of an error status': changing((outcome) =>
    outcome.ok && outcome.status >= 400 ? { ...outcome, body: Buffer.from('Nothing') } : outcome,
  ),
  'does not hear an abort': mutant((inner) => ({
    fetch: (request, context) =>
      inner.fetch(request, {
        wants: context.wants,
        signal: context.signal,
        aborted: false,
        onAbort: undefined,
      }),
  })),
  'looks at an abort only when it starts': mutant((inner) => ({
    fetch: (request, { aborted, signal, wants }) =>
      inner.fetch(request, { aborted, signal, wants, onAbort: undefined }),
  })),
  'calls an abort a timeout': changing((outcome) =>
    !outcome.ok && outcome.code === 'aborted' ? { ...outcome, code: 'timeout' } : outcome,
  ),
  'calls every failure a defect of its own': changing((outcome) =>
    !outcome.ok && outcome.code !== 'aborted' ? { ...outcome, code: 'fetcher-failed' } : outcome,
  ),
  'returns a string for a body': changing((outcome) =>
    outcome.ok ? { ...outcome, body: 'page' as unknown as Uint8Array } : outcome,
  ),
  'leaves header names as they were': changing((outcome) => {
    if (!outcome.ok) return outcome
    const { headers } = outcome
    const entries = () =>
      [...headers.entries()].map(([name, value]) => [name === 'x-case' ? 'X-Case' : name, value] as const)
    return { ...outcome, headers: { get: (name) => headers.get(name.toLowerCase()), entries } }
  }),
  'reads what nobody wants': mutant((inner) => ({
    fetch: (request, context) => inner.fetch(request, Object.assign(context, { wants: () => true })),
  })),
  'mixes up answers that overlap': (() => {
    let last: Outcome | undefined
    return changing((outcome) => {
      const other = last
      last = outcome.ok ? { ...outcome, body: Buffer.from(String(Math.random())) } : undefined
      return other?.ok && outcome.ok && outcome.status === 200 ? other : outcome
    })
  })(),
  'throws after close': mutant((inner) => {
    let closed = false
    return {
      fetch(request, context) {
        if (closed) throw new Error('closed')
        return inner.fetch(request, context)
      },
      close() {
        closed = true
        return inner.close()
      },
    }
  }),
  'cannot be closed twice': mutant((inner) => {
    let closed = false
    return {
      async close() {
        if (closed) throw new Error('closed already')
        closed = true
        await inner.close()
      },
    }
  }),
  'fetches on after close': mutant((inner) => {
    let late: ReturnType<typeof sound> | undefined
    let closed = false
    return {
      fetch: (request, context) => (closed ? (late ??= sound()) : inner).fetch(request, context),
      async close() {
        closed = true
        await inner.close()
        await late?.close()
      },
    }
  }),
  'sends GET whatever is asked': requesting(({ extras, ...request }) => ({
    ...request,
    ...(extras && { extras: { ...extras, method: extras.method === 'HEAD' ? 'HEAD' : 'POST' } }),
  })),
  'asks for a page where HEAD was asked for': requesting(({ extras, ...request }) => ({
    ...request,
    ...(extras?.method !== 'HEAD' && extras && { extras }),
  })),
  'leaves the headers of a request out': requesting((request) => ({
    ...request,
    ...(request.extras && { extras: { ...request.extras, headers: undefined } }),
  })),
  'sends base64 as it is': requesting((request) => ({
    ...request,
    ...(request.extras && { extras: { ...request.extras, binary: undefined } }),
  })),
  'says nothing about what happened': changing((outcome) =>
    outcome.ok ? outcome : { ...outcome, message: '' },
  ),
}

describe('the suite of fetchers', () => {
  it('passes the HTTP fetcher', async () => {
    const urls = await suiteUrls()
    expect(await failuresOf((it) => fetcherSuite({ it, create: sound, urls }))).toEqual([])
  })

  it.for(Object.entries(MUTANTS))('notices a fetcher that %s', async ([, create]) => {
    const urls = await suiteUrls()
    expect(await failuresOf((it) => fetcherSuite({ it, create, urls, patienceMs: 500 }))).not.toEqual([])
  })
})
