/** Numbers, durations and text for display. Pure: the terminal's width is passed in. */

/** 3800 → `3,800`. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}

/** A count and its noun: `1 page`, `2 pages`. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}

const BYTE_UNITS = ['kB', 'MB', 'GB', 'TB']

/** 38917800 → `39 MB`. */
export function bytes(value: number): string {
  if (value < 1000) return counted(value, 'byte')
  let unit = -1
  while (value >= 999.5 && unit < BYTE_UNITS.length - 1) {
    value /= 1000
    unit++
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${BYTE_UNITS[unit]}`
}

const MINUTE_S = 60
const HOUR_S = 60 * MINUTE_S
const DAY_S = 24 * HOUR_S

/** 6537 → `6.5 s`, 125000 → `2 min 5 s`, 90000000 → `1 d 1 h`. */
export function duration(ms: number): string {
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)} min ${seconds % MINUTE_S} s`
  if (seconds < DAY_S)
    return `${Math.floor(seconds / HOUR_S)} h ${Math.floor((seconds % HOUR_S) / MINUTE_S)} min`
  return `${Math.floor(seconds / DAY_S)} d ${Math.floor((seconds % DAY_S) / HOUR_S)} h`
}

/** A rate: `581`, or `0.8` if it is below 10. */
export function rate(perSecond: number): string {
  return perSecond < 10 ? perSecond.toFixed(1) : count(perSecond)
}

/** An instant in ms as `2025-01-02 03:04:05 UTC`. */
export function instant(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** C0 and C1 control characters, line separators and bidirectional formatting characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace
const UNPRINTABLE = /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]/g

/** Makes text from the web safe to print: a title must not move the cursor, change colors or add a line. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '\ufffd')
}

/** Cuts the text to `width` characters, with an ellipsis if it was longer. */
export function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`
}

/** Wraps a paragraph at `width` characters, each line after `indent`. Longer words are not broken. */
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

/** Counts in columns, largest first, each with an optional explanation. */
export function tally(
  counts: Readonly<Partial<Record<string, number>>>,
  width: number,
  explain: (word: string) => string = () => '',
): string[] {
  const rows = Object.entries(counts as Record<string, number>).sort((a, b) => b[1] - a[1])
  const digits = Math.max(...rows.map(([, value]) => count(value).length))
  const letters = Math.max(...rows.map(([word]) => word.length))
  return rows.map(([word, value]) =>
    cut(`  ${count(value).padStart(digits)}  ${word.padEnd(letters)}  ${explain(word)}`.trimEnd(), width),
  )
}

/** Quotes a word for a POSIX shell if necessary. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
