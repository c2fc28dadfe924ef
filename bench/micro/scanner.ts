/**
 * What a link scan costs, beside htmlparser2 doing the same work on the same page in the same run. Only the ratio
 * means anything on a busy machine. Run it: `npx tsx bench/micro/scanner.ts`
 */

import { pathToFileURL } from 'node:url'
import { Parser, Tokenizer } from 'htmlparser2'
import { scan } from '../../src/extract/html/scanner.js'

/** Microseconds a page for each, and the scanner's share of the parser's time. */
export interface ScannerFigures {
  readonly scannerUs: number
  readonly parserUs: number
  readonly tokenizerUs: number
  readonly ratio: number
}

/** The page of the design's table: 14 KB with 60 links. */
const LINKS = 60
const PAGE_CHARACTERS = 14_000

const ROUNDS = 15
const PAGES_A_ROUND = 200

/** A page as a content system makes it: navigation, articles with classes and entities, a script and a style. */
export function samplePage(): string {
  const nav = Array.from(
    { length: 12 },
    (_, n) =>
      `<li class="nav-item"><a class="nav-link" href="/section/${n}/" data-track="nav-${n}">Section ${n}</a></li>`,
  )
  const paragraph =
    'The quick brown fox reads <em>every</em> page that it meets &mdash; slowly, politely, and with an eye on ' +
    'the clock. Nobody asked it to; <strong>nobody</strong> could have stopped it.'
  const articles = Array.from(
    { length: 14 },
    (_, n) => `
      <article id="post-${n}" class="card card--wide" data-id="${n * 37}">
        <h2 class="card__title"><a href="/articles/2024/${n}-a-title-in-words">A title in words ${n}</a></h2>
        <a href="/articles/2024/${n}-a-title-in-words#comments" rel="nofollow">${n} comments</a>
        <img src="/img/${n}.jpg" alt="A picture" width="320" height="200" loading="lazy">
        <p class="card__text">${paragraph} <a href="https://example.org/out?id=${n}&amp;ref=home">out</a></p>
      </article>`,
  )
  const page = `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="robots" content="index,follow">
  <title>A page &ndash; like many others</title>
  <link rel="stylesheet" href="/assets/main.css?v=12">
  <link rel="canonical" href="https://example.com/">
  <style>.card { margin: 0 auto; padding: 1rem } .card > a:hover { color: #369 }</style>
  <script>window.dataLayer = window.dataLayer || []; for (var i = 0; i < 10; i++) dataLayer.push({ n: i })</script>
</head>
<body class="home page">
  <!-- navigation -->
  <nav class="site-nav" aria-label="Main"><ul>
    ${nav.join('\n    ')}
  </ul></nav>
  <main>${articles.join('')}
    <p>FILL</p>
  </main>
  <footer class="site-footer"><p>&copy; 2024 <a href="/about">About</a> <a href='/terms'>Terms</a>
    <a href=/contact>Contact</a> <a href="mailto:us@example.com">Write</a></p></footer>
</body>
</html>
`
  const fill = 'Words to read, and more of them. '
    .repeat(1000)
    .slice(0, PAGE_CHARACTERS - page.length + 'FILL'.length)
  // Decoded from bytes, as a fetched page is: a string put together of parts is slower to read.
  return new TextDecoder().decode(new TextEncoder().encode(page.replace('FILL', fill)))
}

/** Collects with htmlparser2 what the scanner collects. */
function parseLinks(html: string): number {
  const links: { href: string; tag: string; rel: string | undefined }[] = []
  let inTitle = false
  let title = ''
  let base: string | undefined
  let robots = ''
  const parser = new Parser({
    onopentag(name, attributes) {
      switch (name) {
        case 'a':
        case 'area':
        case 'link':
          if (attributes.href !== undefined)
            links.push({ href: attributes.href, tag: name, rel: attributes.rel })
          break
        case 'iframe':
        case 'frame':
          if (attributes.src !== undefined) links.push({ href: attributes.src, tag: name, rel: undefined })
          break
        case 'base':
          base ??= attributes.href
          break
        case 'meta':
          if (attributes.name === 'robots') robots += attributes.content ?? ''
          break
        case 'title':
          inTitle = true
      }
    },
    ontext(text) {
      if (inTitle) title += text
    },
    onclosetag(name) {
      if (name === 'title') inTitle = false
    },
  })
  parser.end(html)
  return links.length + title.length + robots.length + (base?.length ?? 0)
}

function tokenize(html: string): number {
  let names = 0
  const ignore = () => {}
  const tokenizer = new Tokenizer({}, {
    onattribdata: ignore,
    onattribentity: ignore,
    onattribend: ignore,
    onattribname: () => void names++,
    oncdata: ignore,
    onclosetag: ignore,
    oncomment: ignore,
    ondeclaration: ignore,
    onend: ignore,
    onopentagend: ignore,
    onopentagname: () => void names++,
    onprocessinginstruction: ignore,
    onselfclosingtag: ignore,
    ontext: ignore,
    ontextentity: ignore,
  } as unknown as ConstructorParameters<typeof Tokenizer>[1])
  tokenizer.write(html)
  tokenizer.end()
  return names
}

/** Measures all three in turn, round by round, and takes each one's fastest round: what others do only adds. */
export function measureScanner(): ScannerFigures {
  const html = samplePage()
  const found = scan(html).links.length
  if (found !== LINKS)
    throw new Error(`The sample page should have ${LINKS} links; the scanner found ${found}`)
  let sink = 0
  const contenders = [(page: string) => scan(page).links.length, parseLinks, tokenize]
  const rounds: number[][] = contenders.map(() => [])
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, run] of contenders.entries()) {
      const started = process.hrtime.bigint()
      for (let page = 0; page < PAGES_A_ROUND; page++) sink += run(html)
      rounds[index]!.push(Number(process.hrtime.bigint() - started) / 1000 / PAGES_A_ROUND)
    }
  }
  if (sink === 0) throw new Error('Nothing was measured')
  const [scannerUs = 0, parserUs = 0, tokenizerUs = 0] = rounds.map((each) => Math.min(...each))
  return { scannerUs, parserUs, tokenizerUs, ratio: scannerUs / parserUs }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { scannerUs, parserUs, tokenizerUs, ratio } = measureScanner()
  console.log(`page: ${samplePage().length} characters, ${LINKS} links`)
  console.log(`scanner    ${scannerUs.toFixed(1)} µs`)
  console.log(`tokenizer  ${tokenizerUs.toFixed(1)} µs (htmlparser2)`)
  console.log(`parser     ${parserUs.toFixed(1)} µs (htmlparser2)`)
  console.log(`scanner / parser = ${ratio.toFixed(3)}`)
}
