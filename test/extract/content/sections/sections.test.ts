import { describe, expect, it } from 'vitest'
import { pageOf } from '../../../../src/conformance/page.js'
import { chunks, compareChunks } from '../../../../src/extract/content/sections/chunks.js'
import { sample } from '../../../thorough.js'
import { filesIn, hasShared } from '../archive.js'

const page = (body: string) => pageOf({ url: 'https://example.com/a', body })
const sections = (body: string) => page(`<title>Tea</title><main>${body}</main>`).sections
const words = (count: number, word = 'word') =>
  Array.from({ length: count }, (_, n) => `${word}${n}`).join(' ')
const LONG =
  'The leaves are picked by hand, dried in the sun and sorted by size before they are sold. '.repeat(3)

describe('page.sections', () => {
  it('are headings with their level, path and text', () => {
    const found =
      sections(`<p>First. ${LONG}</p><h1>Tea</h1><p>Hot</p><div><h2>Green</h2><p>From <b>China</b></p><pre>a\n  b</pre></div>
      <h3>Sencha</h3><h2>Black</h2><p>${LONG}</p>`)
    expect(found.map(({ level, heading, path }) => [level, heading, ...path])).toEqual([
      [0, 'Tea'],
      [1, 'Tea'],
      [2, 'Green', 'Tea'],
      [3, 'Sencha', 'Tea', 'Green'],
      [2, 'Black', 'Tea'],
    ])
    expect(found.map(({ text }) => text).slice(1, 4)).toEqual(['Hot', 'From China\na\n  b', ''])
  })

  const ANCHORS: [what: string, html: string, id: string | undefined][] = [
    ['its own id', '<h2 id=a>X</h2>', 'a'],
    ['an anchor in it', '<h2><a name=a></a>X</h2>', 'a'],
    ['a permalink', '<section id=a><p>text</p><h2>X<a class=headerlink href="#a">¶</a></h2></section>', 'a'],
    ['a permalink that leads nowhere', '<h2>X<a href="#a">#</a></h2>', undefined],
    ['the section that it begins', '<section id=a><div><h2>X</h2></div></section>', 'a'],
    ['not a section that it does not begin', '<section id=a><p>text</p><h2>X</h2></section>', undefined],
    ['an anchor before it', '<p>text</p><a id=a></a> <h2>X</h2>', 'a'],
    ['not an anchor before other text', '<p>text</p><a id=a></a>text <h2>X</h2>', undefined],
  ]
  it.for(ANCHORS)('have an anchor: %s', ([, html, id]) => {
    const found = sections(`<p>${LONG}</p>${html}<p>${LONG}</p>`).find(({ level }) => level > 0)
    expect([found?.heading, found?.id]).toEqual(['X', id])
  })

  it('take bounded time on hostile pages', () => {
    const start = process.cpuUsage()
    page(`${'<div>'.repeat(400)}${`<h2>x</h2>${LONG}`.repeat(20_000)}`).sections.length
    page(`${'<h1>'.repeat(100_000)}text`).sections.length
    page(`${'<div><a id=x></a>'.repeat(100_000)}<h2>x</h2>`).sections.length
    const { user, system } = process.cpuUsage(start)
    expect((user + system) / 1000).toBeLessThan(10_000)
  })

  it('are one section of a page that is not HTML', () => {
    const plain = pageOf({
      url: 'https://example.com/',
      body: 'a\n b',
      headers: { 'content-type': 'text/plain' },
    })
    expect(plain.sections).toEqual([{ level: 0, heading: '', id: undefined, path: [], text: 'a\n b' }])
  })
})

describe.skipIf(!hasShared('sites/python.tar.gz'))('the sections of real sites', () => {
  it.for(['python', 'postgresql'])('of %s have anchors that exist, in order', (site) => {
    const files = [...filesIn(`sites/${site}.tar.gz`)].filter(([path]) => path.endsWith('.html'))
    // A sample from all over the site.
    const mixed = files
      .map((file, index) => ({ file, at: (index * 7919) % files.length }))
      .sort((a, b) => a.at - b.at)
    let headings = 0
    for (const { file } of sample(mixed, 30)) {
      const [path, content] = file
      const html = content.toString()
      let from = 0
      for (const { level, heading, id } of pageOf({ url: `https://example.com/${path}`, body: content })
        .sections) {
        if (level === 0) continue
        headings++
        const first = heading
          .split(' ')[0]!
          .replaceAll('&', '&amp;')
          .replaceAll('<', '&lt;')
          .replaceAll('>', '&gt;')
        if (id !== undefined) {
          const at = ['id', 'name'].map((name) => html.indexOf(`${name}="${id}"`)).find((each) => each !== -1)
          expect(at, `${path}#${id}`).toBeDefined()
          expect(at!, `${path}#${id} in order`).toBeGreaterThanOrEqual(from)
          from = at!
        }
        expect(html.indexOf(first.slice(0, 8), from), `${path}: ${heading}`).not.toBe(-1)
      }
    }
    expect(headings).toBeGreaterThan(100)
  })
})

describe('chunks', () => {
  const body = (top: string, green: string) =>
    `<title>Tea</title><main><h1 id=tea>Tea</h1>${top}<h2 id=green>Green</h2><p>${green}</p><h2>Notes</h2><p>${words(30, 'a')}</p><h2>Notes</h2><p>${words(30, 'b')}</p></main>`

  it('are parts of sections, with some overlap', () => {
    const all = chunks(page(body(`<p>${words(40)}</p>`, words(250))), { maxWords: 100, overlap: 10 })
    const green = all.filter(({ heading }) => heading === 'Green')
    expect(green.map((chunk) => chunk.words)).toEqual([100, 100, 70])
    expect(green[1]!.text.startsWith('word90 word91')).toBe(true)
    expect(green[0]).toMatchObject({ url: 'https://example.com/a#green', path: ['Tea'] })
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  })

  it('end where a block or a sentence ends', () => {
    const lines = Array.from({ length: 5 }, (_, n) => `<p>${words(40, `w${n}x`)}.</p>`).join('')
    const [first, second] = chunks(page(body(lines, 'x')), { maxWords: 100 })
    expect([first!.words, second!.words]).toEqual([80, 80])
    const sentence = chunks(page(body(`<p>${`${words(29)} end. `.repeat(4)}</p>`, 'x')), { maxWords: 70 })
    expect(sentence.slice(0, 2).map((chunk) => chunk.text.endsWith('end.'))).toEqual([true, true])
  })

  it('show after a visit what is new, changed and gone', () => {
    const before = chunks(page(body(`<p>${words(20)}</p>`, 'Leaves')))
    const stored = before.map(({ id, digest }) => ({ id, digest }))
    expect(compareChunks(stored, before)).toEqual({ new: [], changed: [], unchanged: before, gone: [] })
    const after = chunks(page(body(`<p>${words(20)}</p><h2>News</h2><p>Fresh</p>`, 'Fresh leaves')))
    const changes = compareChunks(stored, after)
    expect(changes.new.map(({ heading }) => heading)).toEqual(['News'])
    expect(changes.changed.map(({ heading }) => heading)).toEqual(['Green'])
    expect(changes.unchanged.map(({ heading }) => heading)).toEqual(['Tea', 'Notes', 'Notes'])
    expect(changes.gone).toEqual([])
    expect(compareChunks(after, before).gone.map(({ heading }) => heading)).toEqual(['News'])
  })

  it('count words where there are no spaces', () => {
    const text = '吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。'
    const all = chunks(page(body(`<p>${text.repeat(20)}</p>`, 'x')), { maxWords: 50 }).filter(
      ({ heading }) => heading === 'Tea',
    )
    expect(all.length).toBeGreaterThan(4)
    expect(all.every((chunk) => chunk.words <= 50)).toBe(true)
    expect(all.map((chunk) => chunk.text).join('')).toBe(text.repeat(20))
  })

  it.for([
    { maxWords: 0 },
    { maxWords: 1.5 },
    { overlap: -1 },
    { maxWords: 10, overlap: 10 },
    { maxWords: '5' as never },
  ])('reject %o', (options) => {
    expect(() => chunks(page('x'), options)).toThrow(expect.objectContaining({ code: 'KUMO_INVALID_OPTION' }))
  })
})
