/**
 * Escapes text so that Markdown shows it as it is. Only what would have a meaning is escaped: `snake_case`, `2 * 3` and `[1]`
 * stay readable.
 */

/** Text without any of these needs no look. */
const SPECIAL = /[\\`*_[\]<&~]/
const EACH = /\\(?=[!-/:-@[-`{-~]|$)|`|\*|_|<(?=[A-Za-z/!?])|&(?=#?\w+;)|~/g
const BRACKETS = /\](?:[[(:]|$)|^\[[ xX]\]|\[\^/
const LETTER = /[\p{L}\p{N}]/u

/** Escapes a text. In the text of a link, brackets would end it. */
export function escapeText(text: string, inLink: boolean): string {
  if (!SPECIAL.test(text)) return text
  const tildes = text.includes('~') && text.indexOf('~') !== text.lastIndexOf('~')
  const escaped = text.replace(EACH, (character, at: number) => {
    if (character === '_') return isInWord(text, at) ? character : '\\_'
    if (character === '*') return isAlone(text, at) ? character : '\\*'
    if (character === '~') return tildes ? '\\~' : character
    return `\\${character}`
  })
  return inLink || BRACKETS.test(text) ? escaped.replace(/[[\]]/g, '\\$&') : escaped
}

function isInWord(text: string, at: number): boolean {
  return LETTER.test(text[at - 1] ?? '') && LETTER.test(text[at + 1] ?? '')
}

function isAlone(text: string, at: number): boolean {
  return (text[at - 1] ?? ' ') === ' ' && (text[at + 1] ?? '') === ' '
}

const LINE_START = /^(?:#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|(?:[-=_] *){3,}$|=+$|-+$|~~~|\|)/
const NUMBER = /^(\d{1,9})([.)])(?=\s|$)/

/** Escapes what starts a block where a line starts: `# `, `- `, `1. `, `>`. */
export function escapeLineStart(line: string): string {
  if (LINE_START.test(line)) return `\\${line}`
  return line.replace(NUMBER, '$1\\$2')
}

/** A code span. Its fence is longer than any run of backticks in it. */
export function codeSpan(text: string): string {
  if (text === '') return ''
  const fence = '`'.repeat(longestRun(text, 1) + 1)
  const pad = /^`|`$|^ .*[^ ].* $/.test(text) ? ' ' : ''
  return fence + pad + text + pad + fence
}

/** The fence of a code block with this text. */
export function codeFence(text: string): string {
  return '`'.repeat(Math.max(3, longestRun(text, 3) + 1))
}

/** The longest run of backticks that has at least `least` of them; 0 if there is none. */
function longestRun(text: string, least: number): number {
  let longest = 0
  if (!text.includes('`'.repeat(least))) return 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return longest
}

/** The destination of a link. `URL` has already encoded white space and angle brackets. */
export function destination(url: string): string {
  return /[()\\]/.test(url) ? url.replace(/[()\\]/g, '\\$&') : url
}
