/** Feeds as programs write them: 20 articles with their full text, in three formats and of about 50 KB each. */

import { seededRandom } from '../src/time.js'

const WORDS =
  'the of a to in river city council morning plan says people market week report new school bridge after house water between price open small station first'.split(
    ' ',
  )
const START = Date.UTC(2024, 4, 20, 9, 30)
const HOUR_MS = 3_600_000

interface Article {
  readonly url: string
  readonly title: string
  readonly at: Date
  readonly author: string
  readonly tags: readonly string[]
  readonly html: string
  readonly summary: string
}

function articles(count: number, paragraphs: number): Article[] {
  const random = seededRandom(16)
  const text = (words: number) =>
    Array.from({ length: words }, () => WORDS[Math.floor(random.next() * WORDS.length)]).join(' ')
  return Array.from({ length: count }, (_, n) => {
    const url = `https://news.example.com/2024/05/${n}-${text(4).replaceAll(' ', '-')}/`
    const body = Array.from({ length: paragraphs }, (_, k) => {
      const image = k === 1 ? `<img src="https://news.example.com/images/${n}.jpg" alt="${text(3)}" />` : ''
      return `<p>${text(30)}, “${text(5)}” &amp; <a href="https://news.example.com/tag/${k}">${text(2)}</a> ${text(12)}.</p>${image}`
    })
    return {
      url,
      title: `${text(6)} & ${text(2)}`,
      at: new Date(START - n * 5 * HOUR_MS),
      author: text(2),
      tags: [text(1), text(1), text(2)],
      html: body.join('\n'),
      summary: `${text(40)} […]`,
    }
  })
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** RSS 2.0 as WordPress writes it. */
export function rssSample(): string {
  const items = articles(20, 5).map(
    ({ url, title, at, author, tags, html, summary }, n) => `\t<item>
\t\t<title>${escaped(title)}</title>
\t\t<link>${url}</link>
\t\t<comments>${url}#comments</comments>
\t\t<dc:creator><![CDATA[${author}]]></dc:creator>
\t\t<pubDate>${at.toUTCString().replace('GMT', '+0000')}</pubDate>
${tags.map((tag) => `\t\t<category><![CDATA[${tag}]]></category>`).join('\n')}
\t\t<guid isPermaLink="false">https://news.example.com/?p=${1000 + n}</guid>
\t\t<description><![CDATA[<p>${summary}</p>]]></description>
\t\t<content:encoded><![CDATA[${html}]]></content:encoded>
\t\t<wfw:commentRss>${url}feed/</wfw:commentRss>
\t\t<slash:comments>${n}</slash:comments>
\t</item>`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"
\txmlns:content="http://purl.org/rss/1.0/modules/content/"
\txmlns:wfw="http://wellformedweb.org/CommentAPI/"
\txmlns:dc="http://purl.org/dc/elements/1.1/"
\txmlns:atom="http://www.w3.org/2005/Atom"
\txmlns:sy="http://purl.org/rss/1.0/modules/syndication/"
\txmlns:slash="http://purl.org/rss/1.0/modules/slash/"
\t>
<channel>
\t<title>Example News</title>
\t<atom:link href="https://news.example.com/feed/" rel="self" type="application/rss+xml" />
\t<link>https://news.example.com/</link>
\t<description>News of an example</description>
\t<lastBuildDate>${new Date(START).toUTCString()}</lastBuildDate>
\t<language>en-US</language>
\t<sy:updatePeriod>hourly</sy:updatePeriod>
\t<sy:updateFrequency>1</sy:updateFrequency>
\t<generator>https://wordpress.org/?v=6.5.3</generator>
${items.join('\n')}
</channel>
</rss>
`
}

/** Atom with escaped HTML, as most programs write it. */
export function atomSample(): string {
  const entries = articles(17, 6).map(
    ({ url, title, at, author, tags, html, summary }) => `  <entry>
    <id>${url}</id>
    <title type="html">${escaped(title)}</title>
    <link rel="alternate" type="text/html" href="${url}"/>
    <published>${at.toISOString()}</published>
    <updated>${at.toISOString()}</updated>
    <author><name>${author}</name></author>
${tags.map((tag) => `    <category term="${tag}"/>`).join('\n')}
    <summary type="text">${escaped(summary)}</summary>
    <content type="html">${escaped(html)}</content>
  </entry>`,
  )
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
  <title>Example News</title>
  <id>https://news.example.com/</id>
  <link rel="self" href="https://news.example.com/atom.xml"/>
  <link rel="alternate" type="text/html" href="https://news.example.com/"/>
  <updated>${new Date(START).toISOString()}</updated>
${entries.join('\n')}
</feed>
`
}

/** JSON Feed 1.1. */
export function jsonSample(): string {
  const items = articles(20, 6).map(({ url, title, at, author, tags, html, summary }) => ({
    id: url,
    url,
    title,
    content_html: html,
    summary,
    date_published: at.toISOString(),
    authors: [{ name: author }],
    tags,
  }))
  return JSON.stringify(
    {
      version: 'https://jsonfeed.org/version/1.1',
      title: 'Example News',
      home_page_url: 'https://news.example.com/',
      feed_url: 'https://news.example.com/feed.json',
      items,
    },
    null,
    2,
  )
}
