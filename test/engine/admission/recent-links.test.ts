import { describe, expect, it } from 'vitest'
import { RecentLinks } from '../../../src/engine/admission/recent-links.js'
import { baseFor } from '../../../src/url/resolve.js'
import { readLinkText } from '../../../src/url/written-link.js'

function knows(recent: RecentLinks, href: string): boolean {
  return recent.has(readLinkText(href, recent.link))
}

function meet(recent: RecentLinks, href: string): boolean {
  const reach = readLinkText(href, recent.link)
  const known = recent.has(reach)
  if (!known) recent.add(reach)
  return known
}

function at(url: string, recent = new RecentLinks()): RecentLinks {
  recent.setBase(baseFor(url))
  return recent
}

const PAGE = 'https://a.example/docs/page.html'
const SIBLING = 'https://a.example/docs/other.html?x=1'
const COUSIN = 'https://a.example/blog/page.html'
const STRANGER = 'https://b.example/docs/page.html'

describe('RecentLinks', () => {
  it.each([
    ['/path', [true, true, true, false]],
    ['//other.example/path', [true, true, true, false]],
    ['https://other.example/', [true, true, true, true]],
    ['http://other.example/', [true, true, true, true]],
    ['page.html', [true, true, false, false]],
    ['httpd/docs.html', [true, true, false, false]],
    ['../up', [true, true, false, false]],
    ['http:page.html', [true, true, false, false]],
    ['?query', [true, false, false, false]],
    ['', [true, false, false, false]],
    ['#fragment', [true, false, false, false]],
    [' #fragment', [false, false, false, false]],
    ['\t?query', [false, false, false, false]],
    [' page.html', [false, false, false, false]],
  ])('knows %j again on the page, in its directory, on its origin, elsewhere: %j', (href, expected) => {
    const recent = at(PAGE)
    expect(meet(recent, href)).toBe(false)
    const known = [knows(recent, href)]
    for (const url of [SIBLING, COUSIN, STRANGER]) known.push(knows(at(url, recent), href))
    expect(known).toEqual(expected)
  })

  it('knows a link again when it comes back to an origin', () => {
    const recent = at(PAGE)
    meet(recent, '/x')
    expect(meet(at(STRANGER, recent), '/x')).toBe(false)
    expect(meet(at(PAGE, recent), '/x')).toBe(true)
  })

  it('takes no link for an empty bucket, not even one that is equal to its base', () => {
    const recent = at('https://a.example/')
    expect(meet(recent, 'https://a.example')).toBe(false)
    expect(meet(recent, 'https://a.example')).toBe(true)
  })

  it('takes no new link for a known one, however many it has met', () => {
    const recent = at(PAGE)
    let mistaken = 0
    for (let i = 0; i < 300_000; i++) if (meet(recent, `/page/${i}`)) mistaken++
    expect(mistaken).toBe(0)
  })

  it('still knows nearly all of the last forty thousand', () => {
    const recent = at(PAGE)
    for (let i = 0; i < 40_000; i++) meet(recent, `page-${i}`)
    let known = 0
    for (let i = 0; i < 40_000; i++) if (knows(recent, `page-${i}`)) known++
    expect(known).toBeGreaterThan(38_000)
  })
})
