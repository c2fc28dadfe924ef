import { describe, expect, it } from 'vitest'
import { pageOf } from '../../../../src/conformance/page.js'
import type { StructuredData } from '../../../../src/extract/content/structured/contract.js'
import { looseJson } from '../../../../src/extract/content/structured/loose-json.js'

function structured(body: string): StructuredData {
  return pageOf({ url: 'https://example.com/a/', body }).structured
}

const jsonLd = (json: string) => structured(`<script type="application/ld+json">${json}</script>`)

function milliseconds(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

describe('looseJson', () => {
  const CASES: [what: string, text: string, values: unknown[]][] = [
    ['trailing commas', '{"a": [1, 2,], }', [{ a: [1, 2] }]],
    ['comments', '// x\n{"a": 1, /* y */ "b": "//no" // z\n}', [{ a: 1, b: '//no' }]],
    ['line breaks and control characters in strings', '{"a": "b\n\u0001c\t"}', [{ a: 'b\n\u0001c\t' }]],
    ['HTML comments around it', '<!-- {"a": 1} -->', [{ a: 1 }]],
    ['HTML comments before it', '<!-- about it -->\n{"a": "<!-- b -->"}', [{ a: '<!-- b -->' }]],
    ['CDATA around it', '//<![CDATA[\n{"a": 1}\n//]]>', [{ a: 1 }]],
    ['bare CDATA around it', '<![CDATA[{"a": 1}]]>', [{ a: 1 }]],
    ['several values', '{"a": 1} {"b": 2},{"c": 3};', [{ a: 1 }, { b: 2 }, { c: 3 }]],
    ['missing commas', '{"a": 1 "b": [1 2]}', [{ a: 1, b: [1, 2] }]],
    ['single quotes and bare names', "{a: 'it\\'s', 'b': \"x\"}", [{ a: "it's", b: 'x' }]],
    ['a byte order mark', '\ufeff{"a": true}', [{ a: true }]],
    ['an end that is missing', '{"a": {"b": "c"', [{ a: { b: 'c' } }]],
    ['escapes', '{"a": "\\u00e9\\n\\/\\x",}', [{ a: 'é\n/x' }]],
    ['numbers', '[-1.5e3, 0, 12,]', [[-1500, 0, 12]]],
    ['names of objects', '{"__proto__": {"x": 1},}', [Object.fromEntries([['__proto__', { x: 1 }]])]],
  ]
  it.for(CASES)('reads %s', ([, text, values]) => {
    expect(looseJson(text)).toEqual(values)
  })

  it.for(['', 'hello', '{"a" 1}', '{"a": }', '{]', '['.repeat(200), '{"a":'.repeat(200)])(
    'rejects %o',
    (text) => {
      expect(() => looseJson(text)).toThrow(SyntaxError)
    },
  )
})

describe('page.structured', () => {
  it('brings JSON-LD, microdata and RDFa into one form', () => {
    const { items } = structured(`
      <script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product", "@id": "#p", "name": "Tea",
        "offers": {"@type": "Offer", "price": 3.5, "url": {"@id": "/buy"}}}</script>
      <div itemscope itemtype="https://schema.org/Product"><b itemprop=name>Tea</b>
        <p itemprop=offers itemscope itemtype="https://schema.org/Offer"><a itemprop=url href="/buy#now">Buy</a></p></div>
      <div vocab="http://schema.org/" typeof="Product" resource="#p"><b property=name>Tea</b>
        <p property=offers typeof=Offer><a property=url href="/buy">Buy</a></p></div>`)
    expect(items).toEqual([
      {
        syntax: 'json-ld',
        types: ['Product'],
        id: '#p',
        properties: {
          name: ['Tea'],
          offers: [
            {
              syntax: 'json-ld',
              types: ['Offer'],
              id: undefined,
              properties: {
                price: [3.5],
                url: [{ syntax: 'json-ld', types: [], id: '/buy', properties: {} }],
              },
            },
          ],
        },
      },
      {
        syntax: 'microdata',
        types: ['Product'],
        id: undefined,
        properties: {
          name: ['Tea'],
          offers: [
            {
              syntax: 'microdata',
              types: ['Offer'],
              id: undefined,
              properties: { url: ['https://example.com/buy#now'] },
            },
          ],
        },
      },
      {
        syntax: 'rdfa',
        types: ['Product'],
        id: 'https://example.com/a/#p',
        properties: {
          name: ['Tea'],
          offers: [
            {
              syntax: 'rdfa',
              types: ['Offer'],
              id: undefined,
              properties: { url: ['https://example.com/buy'] },
            },
          ],
        },
      },
    ])
  })

  it('reads the parts of a graph', () => {
    const { items, jsonLd: written } = jsonLd(
      '{"@context": "x", "@graph": [{"@type": "A"}, [{"@type": ["B", "C"]}]]}',
    )
    expect(items.map(({ types }) => types)).toEqual([['A'], ['B', 'C']])
    expect(written).toEqual([{ '@context': 'x', '@graph': [{ '@type': 'A' }, [{ '@type': ['B', 'C'] }]] }])
  })

  it('reads OpenGraph and Twitter cards, each value', () => {
    const { openGraph, twitter } =
      structured(`<meta property="og:image" content="a.png"><meta name="og:image" content="b.png">
      <meta property="article:tag" content="tea"><meta name="twitter:card" content="summary"><meta property="__proto__:x" content=y>`)
    expect({ ...openGraph }).toEqual({ 'og:image': ['a.png', 'b.png'], 'article:tag': ['tea'] })
    expect({ ...twitter }).toEqual({ 'twitter:card': ['summary'] })
  })

  it('names what it cannot read, and reads the rest', () => {
    const data = structured(
      '<script type="application/ld+json">nonsense</script><script type="application/ld+json">{"@type": "A"}</script>',
    )
    expect(data.problems).toEqual(['JSON-LD that cannot be read: unexpected "nonsense"'])
    expect(data.items.map(({ types }) => types)).toEqual([['A']])
  })

  it('does not read JSON-LD of 5 MB', () => {
    const { problems, items } = jsonLd(`{"@type": "A", "text": "${'x'.repeat(5 * 2 ** 20)}"}`)
    expect(problems).toEqual(['JSON-LD of more than 1048576 characters is not read'])
    expect(items).toEqual([])
  })

  const HOSTILE: [what: string, html: string][] = [
    ['JSON nested deeply', `<script type="application/ld+json">${'['.repeat(500_000)}</script>`],
    [
      'valid JSON nested deeply',
      `<script type="application/ld+json">${'['.repeat(9e4)}${']'.repeat(9e4)}</script>`,
    ],
    ['JSON of many values', `<script type="application/ld+json">${'{"a":1},'.repeat(100_000)}</script>`],
    ['JSON of many comments', `<script type="application/ld+json">${'/*'.repeat(400_000)}</script>`],
    ['JSON of many comment starts', `<script type="application/ld+json">${'<!--'.repeat(200_000)}</script>`],
    ['100,000 nested items', '<div itemscope itemprop=a>'.repeat(100_000)],
    ['100,000 nested properties', `${'<div itemprop=a itemscope><p itemprop=b>x'.repeat(50_000)}`],
    ['nested properties with text', `<div itemscope>${'<b itemprop=a>some text'.repeat(40_000)}`],
    [
      'items that refer to each other',
      '<div itemscope itemref="b c" id=a><p itemprop=x itemscope itemref="a c" id=b></p></div><p id=c itemprop=y itemscope itemref="a b c"></p>',
    ],
    [
      'items that refer to many',
      `${'<div itemscope itemref="a b c d e f g h"></div>'.repeat(5000)}${[...'abcdefgh'].map((id) => `<div id=${id}>${'<i itemprop=p>x</i>'.repeat(500)}</div>`).join('')}`,
    ],
    [
      'doubling references',
      `${Array.from(
        { length: 40 },
        (_, n) =>
          `<div itemprop=x itemscope id=i${n} itemref="i${n + 1} j${n + 1}"></div><div itemprop=x itemscope id=j${n} itemref="i${n + 1} j${n + 1}"></div>`,
      ).join('')}<div itemscope itemref="i0 j0"></div>`,
    ],
    ['100,000 nested RDFa elements', '<div typeof=a:b property=c:d>'.repeat(100_000)],
    ['RDFa with text', `<div vocab="http://schema.org/">${'<b property=name>some text'.repeat(40_000)}`],
    [
      'RDFa in circles',
      Array.from(
        { length: 3000 },
        (_, n) =>
          `<p about="#${n}"><a property="foaf:knows" resource="#${(n + 1) % 3000}"></a><a property="foaf:knows" resource="#${(n + 7) % 3000}"></a></p>`,
      ).join(''),
    ],
    [
      'RDFa prefixes',
      `<p prefix="${Array.from({ length: 5000 }, (_, n) => `p${n}: http://x/${n} `).join('')}">`.repeat(20),
    ],
    ['meta elements', '<meta property=og:image content=x>'.repeat(100_000)],
  ]
  it.for(HOSTILE)('reads hostile pages in bounded time: %s', ([, html]) => {
    let size = 0
    const taken = milliseconds(() => {
      // What it returns can be written.
      size = JSON.stringify(structured(html)).length
    })
    expect(size).toBeGreaterThan(0)
    expect(taken).toBeLessThan(15_000)
  })
})
