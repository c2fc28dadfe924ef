/**
 * Pages made to hurt whoever reads them: each repeats one thing that costs some parser more than its share. All grow
 * to any size, so that tests can ask whether time grows with them or faster.
 */

/** A kind of hostile page. */
export interface HostilePage {
  readonly name: string
  /** A page of at most `size` characters. */
  make(size: number): string
}

/** `before`, then as many `unit`s as fit, then `after`. */
function flood(name: string, unit: string, before = '', after = ''): HostilePage {
  const make = (size: number) =>
    before + unit.repeat((size - before.length - after.length) / unit.length) + after
  return { name, make }
}

/** As many whole `open … close` pairs as fit, each inside the one before. */
function nest(name: string, open: string, close: string): HostilePage {
  const make = (size: number) => {
    const depth = Math.floor(size / (open.length + close.length))
    return open.repeat(depth) + close.repeat(depth)
  }
  return { name, make }
}

/** Tags, attributes or words that are all different, so that nothing is found in a cache. */
function numbered(name: string, unit: (n: number) => string, before = '', after = ''): HostilePage {
  const make = (size: number) => {
    const units: string[] = []
    let length = before.length + after.length
    for (let n = 0; ; n++) {
      const next = unit(n)
      length += next.length
      if (length > size) return before + units.join('') + after
      units.push(next)
    }
  }
  return { name, make }
}

/** The URL in them is longer than any server takes. */
const LONG_VALUE = 'x'.repeat(1024 * 1024)

/** Elements within elements, tags without end: what a tree builder suffers from. */
export const NESTED_PAGES: readonly HostilePage[] = [
  nest('nested div', '<div>', '</div>'),
  flood('nested div, never closed', '<div>'),
  nest('nested b', '<b>', '</b>'),
  nest('nested a', '<a href=x>', '</a>'),
  nest('nested table', '<table><tr><td>', '</table>'),
  nest('nested svg', '<svg>', '</svg>'),
  flood('nested svg, never closed', '<svg>'),
  nest('nested math', '<math>', '</math>'),
  nest('nested template', '<template>', '</template>'),
  flood('nested template, never closed', '<template>'),
  nest('svg in foreignObject in svg', '<svg><foreignObject>', '</foreignObject></svg>'),
  nest('math in annotation-xml in math', '<math><annotation-xml encoding="text/html">', '</math>'),
  flood('svg that a div breaks out of', '<svg><g><div>'),
  flood('misnested formatting', '<b><i></b></i>'),
  flood('end tags that close nothing', '</p>', '<svg><desc>'),
]

/** Attributes without measure. */
export const ATTRIBUTE_PAGES: readonly HostilePage[] = [
  flood('one attribute of all its size', 'x', '<p title="', '">'),
  flood('one link of all its size', 'x', '<a href="', '">'),
  flood('links of a megabyte', `<a href="${LONG_VALUE}">`),
  flood('one link of ampersands', '&', '<a href="', '">'),
  flood('one link of entities', '&amp;', '<a href="', '">'),
  flood('one link of escapes', '%2e', '<a href="', '">'),
  flood('one link of dot segments', '../', '<a href="', '">'),
  flood('one link of slashes', '/', '<a href="', '">'),
  numbered('attributes, all different', (n) => ` a${n}=1`, '<p', '>'),
  numbered('attributes of a link', (n) => ` a${n}=1`, '<a', ' href=x>'),
  flood('attributes, all the same', ' a=1', '<p', '>'),
  flood('attributes without value', ' a', '<p', '>'),
  flood('quotes between attributes', '"', '<p ', '>'),
  flood('equals signs', '=', '<p ', '>'),
  flood('slashes in a tag', '/', '<p ', '>'),
  flood('a tag name of all its size', 'x', '<x', '>'),
]

/** Things that never end, and floods of things that are nothing. */
const FLOOD_PAGES: readonly HostilePage[] = [
  flood('less-than signs', '<'),
  flood('less-than signs and blanks', '< '),
  flood('greater-than signs', '>'),
  flood('NULs', '\0'),
  flood('NULs in a link', '\0', '<a href="', '">'),
  flood('NULs in a title', '\0', '<title>', '</title>'),
  flood('carriage returns', '\r'),
  flood('blanks', ' '),
  flood('blanks between words', 'x  '),
  flood('bare ends', '</'),
  flood('empty ends', '</>'),
  flood('an open comment', 'x', '<!--'),
  flood('a comment of hyphens', '-', '<!--'),
  flood('open comments', '<!--'),
  flood('comments', '<!---->'),
  flood('declarations', '<!x>'),
  flood('instructions', '<?x>'),
  flood('CDATA in svg', '<![CDATA[', '<svg>'),
  flood('an open script', '<', '<script>'),
  flood('a script of open comments', '<!--', '<script>'),
  flood('a script of comments with scripts', '<!--<script>-->', '<script>'),
  flood('a script of ends of others', '</scrip>', '<script>'),
  flood('a style of bare ends', '</', '<style>'),
  flood('a title of bare ends', '</', '<title>'),
  flood('a title of all its size', 'x ', '<title>', '</title>'),
  flood('titles', '<title>x</title>'),
  flood('scripts', '<script></script>'),
  flood('scripts with open comments', '<script><!--</script>'),
  flood('scripts with comments', '<script><!----></script>'),
  flood('a script of empty comments', '<!---->', '<script>'),
  flood('styles', '<style></style>'),
  flood('an open quote', 'x', '<p title="'),
  flood('open tags', '<p '),
  flood('open quotes in open tags', '<p a="'),
  flood('ampersands', '&'),
  flood('entities', '&amp;'),
  flood('entities without semicolon', '&notit'),
  flood('numbers of a character', '&#x41;'),
  flood('an endless number', '0', '&#'),
  flood('names that are none', '&CounterClockwiseContourIntegra'),
  flood('robots wishes', 'a,', '<meta name=robots content="', '">'),
  flood('robots elements', '<meta name=robots content=a>'),
  flood('a refresh of blanks', ' ', '<meta http-equiv=refresh content="', '">'),
  flood('refreshes', '<meta http-equiv=refresh content="0;url=x">'),
  flood('bases', '<base href=x>'),
]

/** Many of something useful. */
const MANY_PAGES: readonly HostilePage[] = [
  flood('paragraphs', '<p>x'),
  flood('links, all the same', '<a href=x>'),
  numbered('links, all different', (n) => `<a href=/${n}>`),
  numbered('links to other hosts', (n) => `<a href=//h${n}.example>`),
  numbered('links that are no URL', (n) => `<a href="http://[${n}">`),
  flood('inline elements', '<b>x</b>'),
  flood('lines', 'x<br>'),
]

const WORDS = 'The kettle sings on the stove, and the cat has gone to sleep beside the window again. '

/** No attack, for comparison: paragraphs of prose with a link in each. */
export const ORDINARY_PAGE: HostilePage = numbered(
  'ordinary',
  (n) =>
    `<p class="story" id="p${n}">${WORDS.repeat(4)}<a href="/story/${n}.html" class="more">more</a></p>\n`,
  '<!DOCTYPE html><html><head><title>Stories</title></head><body>',
  '</body></html>',
)

/**
 * XHTML whose entities would grow to a thousand million words, if anybody expanded them. It is not HTML's way to do so,
 * and we read XHTML by HTML's rules.
 */
export const ENTITY_EXPANSION = `<?xml version="1.0"?>
<!DOCTYPE html [
  <!ENTITY a0 "ha">
${Array.from({ length: 9 }, (_, n) => `  <!ENTITY a${n + 1} "${`&a${n};`.repeat(10)}">`).join('\n')}
  <!ENTITY file SYSTEM "file:///etc/hostname">
]>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>&a9;&file;</title></head>
<body><p title="&a9;">&a9;&file;</p><a href="/next?x=&a9;">next</a></body></html>
`

/** Every kind that grows. */
export const HOSTILE_PAGES: readonly HostilePage[] = [
  ...NESTED_PAGES,
  ...ATTRIBUTE_PAGES,
  ...FLOOD_PAGES,
  ...MANY_PAGES,
]
