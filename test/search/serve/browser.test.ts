/**
 * The search page in a real browser. With KUMO_SCREENSHOTS=1 it also takes the pictures of docs/search.md.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openIndex, openWriter, type SearchIndex, searchHandler } from 'kumo/search'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChromium, whyNoChromium } from './chromium.js'

const missing = whyNoChromium()
const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url))
const ATTACK = '<img src=x onerror="window.attacked=1"><script>window.attacked=1</script>'

describe.skipIf(missing !== undefined)(`in Chromium${missing === undefined ? '' : ` (${missing})`}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'kumo-search-page-'))
  let index: SearchIndex
  let server: Server
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let base = ''
  /** What the page has asked for. */
  let asked: string[] = []

  beforeAll(async () => {
    await fill(folder)
    index = await openIndex(folder)
    const handler = searchHandler(index)
    server = createServer(async (request, response) => {
      const answer = await handler(new Request(new URL(request.url!, 'http://localhost')))
      if (request.url!.includes('search.json'))
        asked.push(new URL(request.url!, base).searchParams.get('q') ?? '')
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.end(Buffer.from(await answer.arrayBuffer()))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    browser = await startChromium()
    context = await browser.newContext({ viewport: { width: 760, height: 620 } })
    // Only what hangs comes to it.
    context.setDefaultTimeout(180_000)
    page = await context.newPage()
  }, 180_000)

  afterAll(async () => {
    await browser?.close()
    server?.closeAllConnections()
    server?.close()
    await index?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const open = async (path = '') => {
    asked = []
    await page.goto(base + path)
  }
  const titles = () => page.locator('li a').allTextContents()
  const hits = (count: number) =>
    page.waitForFunction((n) => document.querySelectorAll('li').length === n, count)
  const picture = async (name: string) => {
    if (process.env.KUMO_SCREENSHOTS !== undefined)
      await page.screenshot({ path: join(DOCS, `search-${name}.png`) })
  }

  test('it searches while the user types, and a query is a link', async () => {
    await open()
    await page.waitForFunction(() => document.activeElement?.tagName === 'INPUT')
    await page.keyboard.type('insta', { delay: 5 })
    await hits(3)
    expect(await page.locator('#status').textContent()).toMatch(/^3 pages in \d+ ms$/)
    expect(await page.locator('mark').first().textContent()).toBe('Install')
    expect(new URL(page.url()).search).toBe('?q=insta')
    await open('?q=install')
    await hits(3)
    expect(await titles()).toContain('Install with npm')
    await picture('light')
  })

  test('keys: / goes to the box, arrows through the hits, Escape clears', async () => {
    await open('?q=install')
    await hits(3)
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '')
    const [first, second] = await titles()
    await page.keyboard.press('ArrowDown')
    expect(await focused()).toBe(first)
    await page.keyboard.press('ArrowDown')
    expect(await focused()).toBe(second)
    await page.keyboard.press('ArrowUp')
    expect(await focused()).toBe(first)
    await page.keyboard.press('/')
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('INPUT')
    await page.keyboard.press('Escape')
    await hits(0)
    expect(await page.locator('input').inputValue()).toBe('')
  })

  test('facets narrow the hits to a site or a language', async () => {
    await open('?q=install')
    await hits(3)
    await page.getByRole('button', { name: 'blog.example.com' }).click()
    await hits(1)
    expect(await page.getByRole('button', { name: 'blog.example.com' }).getAttribute('aria-pressed')).toBe(
      'true',
    )
    await page.getByRole('button', { name: 'blog.example.com' }).click()
    await hits(3)
    await open('?q=kumo')
    await page.getByRole('button', { name: 'Japanese' }).click()
    await hits(1)
    expect(await page.locator('li').getAttribute('lang')).toBe('ja')
  })

  test('it is light or dark as the system is', async () => {
    await open('?q=install')
    await hits(3)
    const colours = () =>
      page.evaluate(() => {
        const { backgroundColor, color } = getComputedStyle(document.body)
        return { backgroundColor, color }
      })
    await page.emulateMedia({ colorScheme: 'light' })
    expect(await colours()).toEqual({ backgroundColor: 'rgb(255, 255, 255)', color: 'rgb(27, 31, 36)' })
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await colours()).toEqual({ backgroundColor: 'rgb(20, 23, 28)', color: 'rgb(230, 233, 237)' })
    await picture('dark')
    await page.emulateMedia({ colorScheme: 'light' })
  })

  test('an input method composes in peace; what it commits is searched', async () => {
    await open()
    await page.locator('input').focus()
    const input = await context.newCDPSession(page)
    for (const text of ['k', 'け', 'けn', 'けん', 'けんさく']) {
      await input.send('Input.imeSetComposition', {
        text,
        selectionStart: text.length,
        selectionEnd: text.length,
      })
      // Longer than the page waits for the next character.
      await page.waitForTimeout(120)
    }
    expect(await page.locator('input').inputValue()).toBe('けんさく')
    expect(asked).toEqual([])
    await input.send('Input.insertText', { text: '検索' })
    await hits(1)
    expect(asked).toEqual(['検索'])
    expect(await page.locator('mark').first().textContent()).toBe('検索')
  })

  test('nothing in a document or a query becomes markup, and no link runs a script', async () => {
    const dialogs: string[] = []
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    await open(`?q=${encodeURIComponent(`attack ${ATTACK}`)}`)
    await page.waitForFunction(() => document.querySelector('#status')!.textContent !== '')
    await open('?q=attack')
    await hits(2)
    expect(await page.locator('li img, li script, #status img').count()).toBe(0)
    expect(await page.locator('li').allTextContents()).toEqual(
      expect.arrayContaining([expect.stringContaining('<img src=x')]),
    )
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0)
    expect(await page.locator('li a[href]').count()).toBe(1)
    expect(await page.evaluate(() => (window as { attacked?: number }).attacked)).toBeUndefined()
    expect(dialogs).toEqual([])
  })
})

async function fill(folder: string): Promise<void> {
  const writer = await openWriter(folder, { sync: false })
  const put = (url: string, title: string, heading: string, text: string, language = 'en') =>
    writer.put({ url, title, language, sections: [{ anchor: 'start', heading, path: [title], text }] })
  await put(
    'https://example.com/guide/install',
    'Kumo guide',
    'Install with npm',
    'Install Kumo with npm install kumo. It needs Node.js 20 or later, and no server.',
  )
  await put(
    'https://example.com/guide/search',
    'Kumo guide',
    'Search a site',
    'After you install Kumo, ten lines make a site searchable while it is crawled.',
  )
  await put(
    'https://blog.example.com/release',
    'Release notes',
    'What is new',
    'You can install the new version today; the index of the old one stays.',
  )
  await put(
    'https://example.com/ja/search',
    'Kumo の使い方',
    'サイトを検索する',
    'クロールしながら全文検索できます。サーバーは必要ありません。kumo serve で検索ページを表示します。',
    'ja',
  )
  await put('https://example.com/attack', ATTACK, ATTACK, `attack ${ATTACK}`)
  await put('javascript:window.attacked=1', 'attack', 'attack', 'An attack by a link.')
  await writer.close()
}
