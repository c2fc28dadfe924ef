/** Line charts side by side in one SVG: no dependency, readable on light and dark backgrounds and without colours. */

export interface Line {
  readonly label: string
  readonly points: readonly (readonly [x: number, y: number])[]
  /** A bound or an ideal to compare the others with: dashed, without marks. */
  readonly isReference?: boolean
}

export interface Chart {
  readonly title: string
  readonly xLabel: string
  readonly yLabel: string
  /** On a `log` scale, proportional growth is a straight line over several powers of ten. */
  readonly scale: 'linear' | 'log'
  /** Scale of the x axis, if it differs. */
  readonly xScale?: 'linear' | 'log'
  readonly xTicks: readonly number[]
  readonly lines: readonly Line[]
}

const WIDTH = 360
const HEIGHT = 400
/** Space around the plot of a chart for the title, the axis labels and the legend. */
const FIELD = { left: 64, top: 44, right: 16, bottom: 118 }
const LEGEND_LINE = 18
/** Legends with more lines than this make all charts taller. */
const LEGEND_LINES = 3
const TICKS = 5
/** Colours for light and dark backgrounds. The marks distinguish the lines without colours. */
const COLOURS = [
  { light: '#0b62c4', dark: '#6cb6ff', mark: 'circle' },
  { light: '#b3400b', dark: '#ff9d5c', mark: 'square' },
  { light: '#1a7f37', dark: '#7ee08a', mark: 'triangle' },
  { light: '#8250df', dark: '#c8a1ff', mark: 'diamond' },
  { light: '#9a6700', dark: '#e3c04a', mark: 'cross' },
] as const

type Mark = (typeof COLOURS)[number]['mark']

const SHAPES: Readonly<Record<Exclude<Mark, 'circle'>, string>> = {
  square: 'M-4-4H4V4H-4Z',
  triangle: 'M0-5L5 4H-5Z',
  diamond: 'M0-5L5 0L0 5L-5 0Z',
  cross: 'M-2-5H2V-2H5V2H2V5H-2V2H-5V-2H-2Z',
}

/** Draws the charts from left to right; `title` is the accessible name of the picture. */
export function svgOf(title: string, charts: readonly Chart[]): string {
  const width = WIDTH * charts.length
  const most = Math.max(...charts.map(({ lines }) => lines.length))
  const height = HEIGHT + Math.max(0, most - LEGEND_LINES) * LEGEND_LINE
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${style()}</style>`,
    `<rect class="ground" width="${width}" height="${height}"/>`,
    ...charts.map((chart, i) => `<g transform="translate(${i * WIDTH} 0)">\n${drawn(chart)}\n</g>`),
    '</svg>\n',
  ].join('\n')
}

function style(): string {
  const coloured = (ground: 'light' | 'dark') =>
    COLOURS.map((colour, i) => `.c${i}{stroke:${colour[ground]}}.m${i}{fill:${colour[ground]}}`).join('')
  return [
    'text{font:12px system-ui,sans-serif;fill:#24292f}.title{font-size:14px;font-weight:600}',
    '.ground{fill:#fff}.grid{stroke:#d8dee4}.axis{stroke:#57606a}.line{fill:none;stroke-width:2}',
    `.reference{stroke:#57606a;stroke-dasharray:4 4;fill:none}${coloured('light')}`,
    '@media (prefers-color-scheme:dark){text{fill:#e6edf3}.ground{fill:#0d1117}.grid{stroke:#30363d}',
    `.axis,.reference{stroke:#9198a1}${coloured('dark')}}`,
  ].join('')
}

function drawn(chart: Chart): string {
  const { left, top, right, bottom } = FIELD
  const xTicks = chart.xTicks
  const yTicks = ticksFor(chart)
  const place = {
    x: placed(chart.xScale ?? chart.scale, xTicks, left, WIDTH - right),
    y: placed(chart.scale, yTicks, HEIGHT - bottom, top),
  }
  const middle = (left + WIDTH - right) / 2
  const solid = chart.lines.filter(({ isReference }) => !isReference)
  return [
    `<text class="title" x="${left}" y="24">${escaped(chart.title)}</text>`,
    ...yTicks.map((tick) => {
      const y = fixed(place.y(tick))
      return (
        `<line class="grid" x1="${left}" x2="${WIDTH - right}" y1="${y}" y2="${y}"/>` +
        `<text x="${left - 8}" y="${y}" dy="4" text-anchor="end">${tick.toLocaleString('en')}</text>`
      )
    }),
    ...xTicks.map((tick) => {
      const x = fixed(place.x(tick))
      const y = HEIGHT - bottom
      return (
        `<line class="axis" x1="${x}" x2="${x}" y1="${y}" y2="${y + 4}"/>` +
        `<text x="${x}" y="${y + 18}" text-anchor="middle">${tick.toLocaleString('en')}</text>`
      )
    }),
    `<line class="axis" x1="${left}" x2="${WIDTH - right}" y1="${HEIGHT - bottom}" y2="${HEIGHT - bottom}"/>`,
    `<line class="axis" x1="${left}" x2="${left}" y1="${top}" y2="${HEIGHT - bottom}"/>`,
    `<text x="${middle}" y="${HEIGHT - bottom + 36}" text-anchor="middle">${escaped(chart.xLabel)}</text>`,
    `<text transform="translate(14 ${(top + HEIGHT - bottom) / 2}) rotate(-90)" text-anchor="middle">${escaped(chart.yLabel)}</text>`,
    ...chart.lines.flatMap((line, i) => {
      const points = line.points.map(([x, y]) => [place.x(x), place.y(y)] as const)
      const legendY = HEIGHT - bottom + 58 + i * LEGEND_LINE
      const key = [[left, legendY] as const, [left + 24, legendY] as const]
      const label = `<text x="${left + 32}" y="${legendY + 4}">${escaped(line.label)}</text>`
      if (line.isReference) return [path('reference', points), path('reference', key), label]
      const colour = solid.indexOf(line) % COLOURS.length
      const { mark } = COLOURS[colour]!
      const marks = [...points, [left + 12, legendY] as const].map((at) => markAt(mark, colour, at))
      return [path(`line c${colour}`, points), path(`line c${colour}`, key), ...marks, label]
    }),
  ].join('\n')
}

/** Round numbers from zero, or powers of ten, that enclose all points. */
function ticksFor({ scale, lines }: Chart): number[] {
  const values = lines.flatMap(({ points }) => points.map(([, y]) => y))
  const most = Math.max(...values, 1)
  if (scale === 'log') {
    const least = Math.max(Math.min(...values), 0.1)
    const ticks: number[] = []
    for (let exponent = Math.floor(Math.log10(least)); ; exponent++) {
      ticks.push(Number(`1e${exponent}`))
      if (10 ** exponent >= most) return ticks
    }
  }
  const rough = most / TICKS
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10)
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => i * step)
}

/** Maps a value to its position between two ends. */
function placed(
  scale: Chart['scale'],
  ticks: readonly number[],
  from: number,
  to: number,
): (value: number) => number {
  const on = (value: number) => (scale === 'log' ? Math.log10(Math.max(value, ticks[0]!)) : value)
  const first = on(ticks[0]!)
  const last = on(ticks.at(-1)!)
  return (value) => from + ((on(value) - first) / (last - first)) * (to - from)
}

function path(kind: string, points: readonly (readonly [number, number])[]): string {
  return `<polyline class="${kind}" points="${points.map((point) => point.map(fixed).join(',')).join(' ')}"/>`
}

function markAt(mark: Mark, colour: number, [x, y]: readonly [number, number]): string {
  const at = `class="m${colour}" transform="translate(${fixed(x)} ${fixed(y)})"`
  if (mark === 'circle') return `<circle ${at} r="4"/>`
  return `<path ${at} d="${SHAPES[mark]}"/>`
}

function fixed(value: number): string {
  return String(Math.round(value * 10) / 10)
}

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}
