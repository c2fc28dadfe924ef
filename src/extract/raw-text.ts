/** Where the stretches of a page end in which `<` begins no element: comments, scripts, styles, titles. */

import { BANG, endsTagName, GREATER_THAN, isWordAt, SLASH } from './characters.js'

/**
 * Where the text of a raw text element ends that begins at `from`: at the `<` of its end tag, or -1 if the page ends
 * first. `name` is in small letters.
 */
export function endOfRawText(html: string, from: number, name: string): number {
  let at = html.indexOf('</', from)
  while (at !== -1 && !isNameAt(html, at + 2, name)) at = html.indexOf('</', at + 2)
  return at
}

/**
 * The same for a script, which has one trap more: after `<!--` a `<script` hides the next `</script>`, as it did for
 * browsers that took the comment for a comment.
 */
export function endOfScript(html: string, from: number): number {
  let escapedUntil = from
  let nested = false
  for (let at = html.indexOf('<', from); at !== -1; at = html.indexOf('<', at + 1)) {
    const escaped = at < escapedUntil
    if (!escaped) nested = false
    const next = html.charCodeAt(at + 1)
    if (next === SLASH && isNameAt(html, at + 2, 'script')) {
      if (!nested) return at
      nested = false
    } else if (escaped) {
      if (isNameAt(html, at + 1, 'script')) nested = true
    } else if (next === BANG && html.startsWith('--', at + 2)) {
      // The hyphens of `<!--` count for `-->`.
      const close = html.indexOf('-->', at + 2)
      escapedUntil = close === -1 ? html.length : close
    }
  }
  return -1
}

function isNameAt(html: string, start: number, name: string): boolean {
  return isWordAt(html, start, name) && endsTagName(html.charCodeAt(start + name.length))
}

/** The position after the comment whose `<!--` stands at `at`, or -1 if the page ends first. */
export function endOfComment(html: string, at: number): number {
  const text = at + '<!--'.length
  // `<!-->` and `<!--->` are whole comments: the opening hyphens count for `-->`, though not for `--!>`.
  for (let hyphens = at + 2; hyphens !== -1; hyphens = html.indexOf('--', hyphens + 1)) {
    const next = html.charCodeAt(hyphens + 2)
    if (next === GREATER_THAN) return hyphens + 3
    if (next === BANG && hyphens >= text && html.charCodeAt(hyphens + 3) === GREATER_THAN) return hyphens + 4
  }
  return -1
}
