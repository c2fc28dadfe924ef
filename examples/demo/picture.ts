/**
 * Draws what the demo prints as an SVG of a terminal window, for the README:
 *
 *     npm run --silent demo | npx tsx examples/demo/picture.ts > docs/demo.svg
 */

import { text } from 'node:stream/consumers'

const COLUMN = 7.8
const LINE = 17
const FONT_SIZE = 13
const MARGIN = 20
const TITLE_BAR = 34
const COLUMNS = 88
const BACKGROUND = '#16181d'
const PLAIN = '#c9d1d9'
const STRONG = '#ffffff'
const FAINT = '#7d8590'
const ACCENT = '#56c7e8'
const LIGHTS = ['#ff5f57', '#febc2e', '#28c840']

const escapeXml = (line: string) =>
  line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Text at a column. Spaces count, so that columns line up in every viewer. */
function span(line: string, column: number, row: number, fill: string): string {
  if (line.trim() === '') return ''
  const x = (MARGIN + column * COLUMN).toFixed(1)
  const y = TITLE_BAR + (row + 1) * LINE
  const width = (line.length * COLUMN).toFixed(1)
  return `<text x="${x}" y="${y}" fill="${fill}" textLength="${width}" xml:space="preserve">${escapeXml(line)}</text>`
}

/** A bar as a rectangle: block characters have gaps in many fonts. Each stands for eighths of a column. */
function bar(blocks: string, column: number, row: number): string {
  const eighths = [...blocks].reduce((sum, block) => sum + (' ▏▎▍▌▋▊▉█'.indexOf(block) % 9), 0)
  const x = (MARGIN + column * COLUMN).toFixed(1)
  const y = TITLE_BAR + row * LINE + 7
  const width = ((eighths / 8) * COLUMN).toFixed(1)
  return `<rect x="${x}" y="${y}" width="${width}" height="${LINE - 6}" rx="1.5" fill="${ACCENT}"/>`
}

function draw(line: string, row: number): string {
  const blocks = /[▏▎▍▌▋▊▉█]+/.exec(line)
  if (blocks !== null) {
    const [found] = blocks
    const end = blocks.index + found.length
    const rest = line.slice(end)
    const label = end + rest.search(/\S/)
    return [
      span(line.slice(0, blocks.index).trimEnd(), 0, row, PLAIN),
      bar(found, blocks.index, row),
      span(rest.trimStart(), label, row, PLAIN),
    ].join('')
  }
  if (line.startsWith('$')) return span(line, 0, row, ACCENT)
  if (line.includes(' in flight · ')) return span(line, 0, row, FAINT)
  return span(line, 0, row, line.startsWith(' ') ? PLAIN : STRONG)
}

const printed = (await text(process.stdin)).trimEnd().split('\n')
const lines = ['$ npm run demo', '', ...printed]
const width = Math.round(2 * MARGIN + COLUMNS * COLUMN)
const height = TITLE_BAR + (lines.length + 1) * LINE + MARGIN / 2
const lights = LIGHTS.map((fill, i) => `<circle cx="${MARGIN + i * 18}" cy="18" r="5.5" fill="${fill}"/>`)

console.log(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="What npm run demo prints">
<rect width="${width}" height="${height}" rx="9" fill="${BACKGROUND}"/>
${lights.join('')}
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${FONT_SIZE}">
${lines
  .map(draw)
  .filter((drawn) => drawn !== '')
  .join('\n')}
</g>
</svg>`)
