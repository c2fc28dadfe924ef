import { describe, expect, test } from 'vitest'
import { loadSiteOf } from '../../src/url/site.js'

describe('the site of a host', async () => {
  const siteOf = await loadSiteOf()

  test.each([
    ['example.com', 'example.com'],
    ['www.shop.example.com', 'example.com'],
    ['www.example.co.uk', 'example.co.uk'],
    ['www.example.com:8080', 'example.com'],
    ['www.example.com.', 'example.com'],
    ['www.example.com.:81', 'example.com'],
    // Customers of one provider are strangers.
    ['a.github.io', 'a.github.io'],
    ['x.a.github.io', 'a.github.io'],
    ['github.io', 'github.io'],
    ['co.uk', 'co.uk'],
    // Exceptions and wildcards of the list.
    ['www.city.kawasaki.jp', 'city.kawasaki.jp'],
    ['a.b.c.kawasaki.jp', 'b.c.kawasaki.jp'],
    ['a.b.unknown-suffix', 'b.unknown-suffix'],
    ['www.xn--bcher-kva.de', 'xn--bcher-kva.de'],
    // Without a registrable domain.
    ['localhost', 'localhost'],
    ['localhost:3000', 'localhost'],
    ['intranet', 'intranet'],
    ['127.0.0.1', '127.0.0.1'],
    ['10.1.2.3:8080', '10.1.2.3'],
    ['[::1]', '[::1]'],
    ['[2001:db8::1]:8080', '[2001:db8::1]'],
  ])('%s → %s', (host, site) => {
    expect(siteOf(host)).toBe(site)
  })
})
