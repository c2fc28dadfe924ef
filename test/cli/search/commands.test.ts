/** `kumo index`, `kumo search` and `kumo serve` as a user runs them. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startSite } from '../../loopback/site.js'
import { type RunOptions, runProgram } from '../../run-program.js'

const kumo = (args: readonly string[], options?: RunOptions) => runProgram('src/cli/main.ts', args, options)

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'kumo-cli-search-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const html = (title: string, text: string) =>
  `<html lang="en"><title>${title}</title><h1 id="top">${title}</h1><p>${text}`

test('a folder is indexed, searched and served', async () => {
  const path = folder()
  mkdirSync(join(path, 'public/docs'), { recursive: true })
  writeFileSync(join(path, 'public/index.html'), html('Home', 'Welcome to the tea house.'))
  writeFileSync(join(path, 'public/docs/green tea.html'), html('Green', 'Steamed <b>leaves</b> & water.'))
  writeFileSync(join(path, 'public/notes.txt'), 'Plain notes about porcelain.')
  const out = join(path, 'index')
  const indexed = await kumo(['index', join(path, 'public'), '--as', 'https://example.com/', '--out', out])
  expect(indexed).toMatchObject({ code: 0, stderr: expect.stringContaining('3 documents') })

  const found = await kumo(['search', out, 'leaves', '-porcelain'])
  expect(found).toMatchObject({ code: 0, stderr: '1 page\n' })
  expect(found.stdout).toBe(
    'Green\n  https://example.com/docs/green%20tea.html#top\n  Steamed leaves & water.\n',
  )
  const json = await kumo(['search', out, 'porcelin', '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({
    matched: 'corrected',
    hits: [{ url: 'https://example.com/notes.txt' }],
  })
  expect((await kumo(['search', out, 'elephant'])).code).toBe(1)

  let answer: Promise<void> | undefined
  const served = await kumo(['serve', out, '--port', '0'], {
    onOutput: (text, child) => {
      const base = /http:\S+/.exec(text)?.[0]
      if (base === undefined || answer !== undefined) return
      answer = (async () => {
        const page = await fetch(base)
        expect(page.headers.get('content-type')).toContain('text/html')
        expect(await page.text()).toContain('type="search"')
        const result = await (await fetch(`${base}search.json?q=lea&typing=1`)).json()
        expect(result).toMatchObject({
          total: 1,
          hits: [{ title: 'Green' }],
          facets: { host: [{ count: 1 }] },
        })
        expect(await (await fetch(`${base}suggest.json?q=porc`)).json()).toEqual([
          { text: 'porcelain', count: 1 },
        ])
        expect((await fetch(base, { method: 'POST' })).status).toBe(405)
      })().finally(() => child.kill('SIGINT'))
    },
  })
  await answer
  expect(served.code).toBe(0)
})

test('a site is crawled and indexed', async () => {
  const site = await startSite({
    '/': html('Home', 'Start <a href="/a">here</a>'),
    '/a': html('Alpha', 'Second page'),
  })
  const out = join(folder(), 'index')
  const { code, stderr } = await kumo(['index', site.url(), '--out', out, '--delay', '0', '--quiet'])
  expect([code, stderr]).toEqual([0, ''])
  expect((await kumo(['search', out, 'second'])).stdout).toContain(`${site.url('/a')}#top`)
  await site.close()
})

test.each<[string[], RegExp]>([
  [['index'], /nothing to index/],
  [['index', 'nowhere', '--as', 'https://example.com/'], /not a folder/],
  [['index', '.', '--as', 'example'], /--as/],
  [['index', '.'], /'\.' is a folder.*--as/],
  [['search', './index'], /pass the folder/],
  [['search', './index', '-limit', '3', 'tea'], /did you mean --limit/],
  [['serve', './index', '--port', 'x'], /--port/],
])('%j is refused', async (args, message) => {
  const { code, stderr } = await kumo(args)
  expect(code).toBe(2)
  expect(stderr).toMatch(message)
})
