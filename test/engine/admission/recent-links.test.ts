import { describe, expect, it } from 'vitest'
import { RecentLinks } from '../../../src/engine/admission/recent-links.js'
import { fingerprint } from '../../../src/url/fingerprint.js'

function knows(met: RecentLinks, href: string): boolean {
  fingerprint(href, met.link)
  return met.has()
}

function meet(met: RecentLinks, href: string): boolean {
  const known = knows(met, href)
  if (!known) met.add(href)
  return known
}

describe('MetLinks', () => {
  it('knows a link that was added, on pages of the same origin only', () => {
    const met = new RecentLinks()
    met.setOrigin('https://a.example')
    expect(meet(met, '/x')).toBe(false)
    expect(meet(met, '/x')).toBe(true)
    met.setOrigin('https://b.example')
    expect(meet(met, '/x')).toBe(false)
    met.setOrigin('https://a.example')
    expect(meet(met, '/x')).toBe(true)
  })

  it.each([
    ['/path', true],
    ['https://other.example/', true],
    ['http://other.example/', true],
    ['//other.example/', false],
    ['relative', false],
    ['?query', false],
    ['../up', false],
    ['', false],
  ])('remembers %j: %s, because pages of one origin may resolve it differently', (href, remembered) => {
    const met = new RecentLinks()
    met.setOrigin('https://a.example')
    meet(met, href)
    expect(knows(met, href)).toBe(remembered)
  })

  it('takes no new link for a known one, however many it has met', () => {
    const met = new RecentLinks()
    met.setOrigin('https://a.example')
    for (let i = 0; i < 300_000; i++) expect(meet(met, `/page/${i}`)).toBe(false)
  })

  it('still knows nearly all of the last twenty thousand', () => {
    const met = new RecentLinks()
    met.setOrigin('https://a.example')
    for (let i = 0; i < 20_000; i++) meet(met, `/page/${i}`)
    let known = 0
    for (let i = 0; i < 20_000; i++) if (knows(met, `/page/${i}`)) known++
    expect(known).toBeGreaterThan(19_000)
  })
})
