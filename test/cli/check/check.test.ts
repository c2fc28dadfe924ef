/** `kumo check` in its own process, against sites on loopback: its report and exit code. */

import { describe, expect, test } from 'vitest'
import { linksTo, site } from '../../crawler/support.js'
import { runProgram } from '../../run-program.js'

const kumo = (...args: string[]) =>
  runProgram('src/cli/main.ts', ['check', ...args, '--delay', '0', '--retries', '0'])

const redirect = (location: string, status = 301) => ({ status, headers: { location } })

describe('kumo check', () => {
  test('reports broken links with every page that contains them, and redirects', async () => {
    const other = await site({ '/': linksTo('/not-followed'), '/gone': { status: 410 } })
    const elsewhere = (path: string) => other.url(path, '127.0.0.2')
    const small = await site({
      '/robots.txt': 'User-agent: *\nDisallow: /private',
      '/': linksTo(
        '/a',
        '/gone',
        '/moved',
        '/old',
        '/private',
        '/data.zip',
        elsewhere('/'),
        elsewhere('/gone'),
      ),
      '/a': linksTo(
        '/gone',
        '/moved',
        '/hop',
        '/loop',
        elsewhere('/gone'),
        'http://exa mple/',
        'mailto:a@b.example',
      ),
      '/moved': redirect('/lost'),
      '/old': redirect('/a'),
      '/hop': redirect('/old', 302),
      '/loop': redirect('/loop', 302),
      '/data.zip': { headers: { 'content-type': 'application/zip' }, body: 'PK' },
    })
    const { code, stdout, stderr } = await kumo(small.url(), '--allow-private')
    expect(stdout.replaceAll(small.url(''), '').replaceAll(elsewhere(''), 'other:').split('\n')).toEqual([
      '404  /gone',
      '     linked from /',
      '     linked from /a',
      '',
      '302  /loop',
      '     redirect loop: /loop → /loop',
      '     linked from /a',
      '',
      '301  /moved',
      '404  → /lost',
      '     linked from /',
      '     linked from /a',
      '',
      '410  other:/gone',
      '     linked from /',
      '     linked from /a',
      '',
      '---  http://exa mple/',
      '     not a valid URL',
      '     linked from /a',
      '',
      '2 links redirected:',
      '302  /hop → /old → /a (on 1 page)',
      '301  /old → /a (on 1 page)',
      '',
    ])
    expect(stderr).toMatch(/^\nChecked 11 URLs from 2 pages in [\d.]+ s: 5 broken, 2 redirected\.\n/)
    expect(stderr).toMatch(/\nNot checked: 1 URL disallowed by robots\.txt\.\n$/)
    expect(code).toBe(1)
    // Once each, and nothing behind them.
    expect(other.requests.map(({ path }) => path).sort()).toEqual(['/', '/gone', '/robots.txt'])
  })

  test('--json prints the same for programs; 0 if nothing is broken', async () => {
    const small = await site({
      '/robots.txt': 'Sitemap: /sitemap.xml',
      '/sitemap.xml': '<urlset><url><loc>/unlinked</loc></url></urlset>',
      '/': linksTo('/old', '/forbidden', 'http://127.0.0.2:1/'),
      '/old': redirect('/new'),
      '/new': 'new',
      '/forbidden': { status: 403 },
    })
    const lines = (stdout: string) =>
      stdout
        .replaceAll(small.url(''), '')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    const broken = await kumo(small.url(), '--json', '-q', '--no-external')
    const [first, second, redirected, summary] = lines(broken.stdout)
    expect(first).toMatchObject({
      type: 'broken',
      url: '/forbidden',
      status: 403,
      redirects: [],
      pages: ['/'],
    })
    expect(second).toMatchObject({ type: 'broken', url: '/unlinked', status: 404, pages: ['/sitemap.xml'] })
    expect(redirected).toEqual({
      type: 'redirect',
      url: '/old',
      redirects: [{ status: 301, to: '/new' }],
      pages: ['/'],
    })
    expect(summary).toMatchObject({ type: 'summary', broken: 2, redirected: 1, pages: 2, pending: 0 })
    expect([broken.code, broken.stderr]).toEqual([1, ''])

    const works = await kumo(small.url(), '--json', '-q', '--no-external', '--accept', '403', '--no-sitemaps')
    expect(lines(works.stdout).map(({ type }) => type)).toEqual(['redirect', 'summary'])
    expect(works.code).toBe(0)
  })

  test('exits with 1 if no page could be read, with 2 for a mistake on the command line', async () => {
    const closed = await site({ '/robots.txt': 'User-agent: *\nDisallow: /', '/': 'x' })
    const none = await kumo(closed.url())
    expect([none.code, none.stdout]).toEqual([1, ''])
    expect(none.stderr).toMatch(/: no page was read\.\n.*\nrobots\.txt disallows .* --no-robots\n/)
    const mistakes: [args: string[], message: string][] = [
      [[], 'no URL given; pass at least one, as in: kumo check https://example.com/'],
      [
        ['https://a.example/', '--accept', 'ok'],
        "--accept: got 'ok'; allowed: statuses from 400 on, such as 403,429",
      ],
      [['https://a.example/', '--store', 'x'], 'unknown option --store'],
      [
        ['https://a.example/', '--scope', 'hots'],
        "--scope: got 'hots'; allowed: site, host, origin, path, all, or a",
      ],
    ]
    for (const [args, message] of mistakes) {
      const { code, stdout, stderr } = await kumo(...args)
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toContain(`kumo check: ${message}`)
    }
  })
})
