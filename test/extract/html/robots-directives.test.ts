import { describe, expect, it } from 'vitest'
import { robotsDirectives } from '../../../src/extract/html/robots-directives.js'
import { FetchedPage } from '../../../src/extract/page.js'

const NOTHING = { noindex: false, nofollow: false }
const NOINDEX = { noindex: true, nofollow: false }
const NOFOLLOW = { noindex: false, nofollow: true }
const NONE = { noindex: true, nofollow: true }

type Case = [said: string | undefined, wishes: typeof NOTHING]

describe('robotsWishes', () => {
  const metas: Case[] = [
    [undefined, NOTHING],
    ['', NOTHING],
    ['all', NOTHING],
    ['index, follow', NOTHING],
    ['NoIndex', NOINDEX],
    ['index, noindex', NOINDEX],
    ['noindex nofollow', NONE],
    ['none', NONE],
    ['all,none', NONE],
    ['nofollow,max-snippet:-1', NOFOLLOW],
    ['noindexing', NOTHING],
  ]
  it.for(metas)('meta: %s', ([meta, wishes]) => {
    expect(robotsDirectives({ meta, header: undefined, product: 'kumo' })).toEqual(wishes)
  })

  const headers: Case[] = [
    ['noindex', NOINDEX],
    ['NOINDEX, NoFollow', NONE],
    ['none', NONE],
    ['kumo: noindex, nofollow', NONE],
    ['Kumo : NOINDEX', NOINDEX],
    ['otherbot: noindex, nofollow', NOTHING],
    ['otherbot: none, kumo: nofollow', NOFOLLOW],
    ['noindex, otherbot: nofollow', NOINDEX],
    ['kumobot: none', NOTHING],
    ['*: nofollow', NOFOLLOW],
    ['otherbot: noindex, *: nofollow', NOFOLLOW],
    ['max-snippet:-1, noindex', NOINDEX],
    ['max-image-preview: none', NOTHING],
    ['unavailable_after: 25 Jun 2010 15:00:00 PST', NOTHING],
    ['unavailable_after: Wed, 25 Jun 2010 15:00:00 PST, noindex', NOINDEX],
    ['unavailable_after: 2010-06-25T15:00:00+00:00, nofollow', NOFOLLOW],
    ['kumo: unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow', NOFOLLOW],
    [',,:,', NOTHING],
    [': noindex', NOINDEX],
  ]
  it.for(headers)('X-Robots-Tag: %s', ([header, wishes]) => {
    expect(robotsDirectives({ meta: undefined, header, product: 'kumo' })).toEqual(wishes)
  })

  it('adds up what meta and header say', () => {
    expect(robotsDirectives({ meta: 'noindex, follow', header: 'kumo: nofollow', product: 'kumo' })).toEqual(
      NONE,
    )
    expect(robotsDirectives({ meta: 'noindex', header: 'index', product: undefined })).toEqual(NOINDEX)
  })
})

describe('page.robots', () => {
  const robotsOf = (body: string, header?: string, product?: string, contentType = 'text/html') => {
    const values = new Map([['content-type', contentType]])
    if (header !== undefined) values.set('x-robots-tag', header)
    const headers = { get: (name: string) => values.get(name), entries: () => values.entries() }
    const url = 'https://example.com/'
    const request = {
      url,
      host: 'example.com',
      depth: 0,
      priority: 0,
      attempt: 0,
      redirects: 0,
      parent: undefined,
    }
    const response = {
      ok: true,
      status: 200,
      headers,
      body: Buffer.from(body),
      wireBytes: 0,
      skippedBody: false,
    } as const
    return new FetchedPage(request, response, { fetchedAt: 0, fetchMs: 0 }, product).robots
  }

  const pages: [what: string, robots: object, wishes: typeof NOTHING][] = [
    ['nothing', robotsOf('<p>'), NOTHING],
    ['a meta for all', robotsOf('<meta name=ROBOTS content=noindex>', undefined, 'kumo'), NOINDEX],
    ['a meta for us', robotsOf('<meta name=Kumo content=nofollow>', undefined, 'kumo'), NOFOLLOW],
    ['a meta for us, who have no name', robotsOf('<meta name=kumo content=nofollow>'), NOTHING],
    [
      'a meta for another',
      robotsOf('<meta name=googlebot content=none><meta content=x>', undefined, 'kumo'),
      NOTHING,
    ],
    [
      'a meta for all and one for us, of which the strictest counts',
      robotsOf(
        '<meta name=robots content=noindex><meta name=kumo content="index, nofollow">',
        undefined,
        'kumo',
      ),
      NONE,
    ],
    ['a header', robotsOf('<p>', 'noindex'), NOINDEX],
    ['a header of what is not markup', robotsOf('%PDF-1.7', 'kumo: none', 'kumo', 'application/pdf'), NONE],
    [
      'a meta in a template',
      robotsOf('<template><meta name=kumo content=none></template>', undefined, 'kumo'),
      NOTHING,
    ],
  ]
  it.for(pages)('%s', ([, robots, wishes]) => {
    expect(robots).toEqual(wishes)
  })
})
