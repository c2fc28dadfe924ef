/** Formats figures and text for people. Pure: the caller passes in the width and colours of the terminal. */

/** 3800 → `3,800`. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}

/** A count and its noun: `1 page`, `2 pages`. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}

const BYTE_UNITS = ['kB', 'MB', 'GB', 'TB']

/** 38917800 → `38.9 MB`. */
export function bytes(value: number): string {
  if (value < 1000) return counted(value, 'byte')
  let unit = -1
  while (value >= 999.5 && unit < BYTE_UNITS.length - 1) {
    value /= 1000
    unit++
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${BYTE_UNITS[unit]}`
}

/** 6537 → `6.5 s`, 125000 → `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** Rounded down, so that a gap that is too short never looks long enough. */
export function milliseconds(ms: number): string {
  return `${(Math.floor(ms * 10) / 10).toFixed(1)} ms`
}

/** A rate: `581`, or `0.8` below ten. */
export function rate(perSecond: number): string {
  return perSecond < 10 ? perSecond.toFixed(1) : count(perSecond)
}

/** 0.652 → ` 65 %`, always five wide. */
export function percent(share: number): string {
  const text = share > 0 && share < 0.005 ? '<1' : String(Math.round(share * 100))
  return `${text.padStart(3)} %`
}

/** A share as a bar of at most `width` cells. A share above zero is always visible. */
export function bar(share: number, width: number): string {
  const eighths = Math.min(Math.round(share * width * 8), width * 8)
  const full = '█'.repeat(eighths >> 3)
  const rest = ' ▏▎▍▌▋▊▉'[eighths & 7]!.trim()
  return (full + rest || (share > 0 ? '▏' : '')).padEnd(width)
}

/** Breaks a paragraph into lines of at most `width` characters, each behind `indent`. */
export function wrap(text: string, width: number, indent: string): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(indent + line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  lines.push(indent + line)
  return lines
}

/** Styles for text. */
export interface Paint {
  strong(text: string): string
  faint(text: string): string
  good(text: string): string
  bad(text: string): string
  accent(text: string): string
}

/** Terminal colours, or plain text. */
export function paint(coloured: boolean): Paint {
  const style = (code: number) => (text: string) => (coloured ? `\x1b[${code}m${text}\x1b[0m` : text)
  return { strong: style(1), faint: style(2), good: style(32), bad: style(31), accent: style(36) }
}
