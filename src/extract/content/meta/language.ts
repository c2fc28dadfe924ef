/** Weighs the language that a page declares against that of its text. */

import { owned } from '../../../owned.js'
import { detectLanguage } from '../language.js'
import type { PageLanguage } from './contract.js'

/** Code units in which the declarations of a page are. */
const HEAD = 2 ** 16
const HTML_TAG = /<html\b[^>]{0,5000}>/i
const LANG = /\s(?:xml:)?lang\s*=\s*["']?\s*([\w-]+)/i
const META_TAG = /<meta\b[^>]{0,1000}>/gi
const LANGUAGE_META = /\b(?:http-equiv|name)\s*=\s*["']?\s*(?:content-language|language|dc\.language)\b/i
const LOCALE_META = /\bproperty\s*=\s*["']?\s*og:locale["'\s]/i
const CONTENT = /\bcontent\s*=\s*["']?\s*([\w-]+)/i
/** From here on the text clearly is in another language than the page declares. */
const CLEAR = 0.7
/** How sure a declaration alone is: templates declare the language of their author. */
const DECLARED = 0.5
/** Languages that a text can hardly tell apart: here, the page knows better. */
const ALIKE = ['no nb nn da', 'hr bs sr sh', 'id ms', 'zh yue wuu', 'fa tg prs', 'pt gl', 'ca oc'].map(
  (group) => group.split(' '),
)

/** The language tag that a page declares; undefined if there is none that is one. */
export function declaredLanguage(html: string, header: string | undefined): string | undefined {
  const head = html.slice(0, HEAD)
  const own = tagOf(LANG.exec(HTML_TAG.exec(head)?.[0] ?? '')?.[1])
  if (own !== undefined) return own
  const fromHeader = header?.includes(',') ? undefined : tagOf(header?.trim())
  if (fromHeader !== undefined) return fromHeader
  const metas = head.match(META_TAG) ?? []
  for (const pattern of [LANGUAGE_META, LOCALE_META]) {
    const meta = metas.find((each) => pattern.test(each))
    const tag = meta === undefined ? undefined : tagOf(CONTENT.exec(meta)?.[1])
    if (tag !== undefined) return tag
  }
  return undefined
}

/** The language of a page with this declaration and this text. */
export function languageOf(declared: string | undefined, text: string): PageLanguage {
  const found = detectLanguage(text)
  const detected = found?.code
  const code = declared === undefined ? undefined : primary(declared)
  if (found === undefined || code === undefined) {
    const confidence = found?.confidence ?? (code === undefined ? 0 : DECLARED)
    return { code: code ?? detected, confidence, declared, detected }
  }
  if (isAlike(code, found.code)) {
    const confidence = Math.round((1 - (1 - DECLARED) * (1 - found.confidence)) * 100) / 100
    return { code, confidence, declared, detected }
  }
  return found.confidence >= CLEAR
    ? { code: found.code, confidence: found.confidence, declared, detected }
    : { code, confidence: DECLARED, declared, detected }
}

function isAlike(one: string, other: string): boolean {
  return one === other || ALIKE.some((group) => group.includes(one) && group.includes(other))
}

function primary(tag: string): string {
  return tag.split('-', 1)[0]!.toLowerCase()
}

/** The canonical form of a tag; also of `en_US`, as locales are written. */
function tagOf(written: string | undefined): string | undefined {
  if (!written) return undefined
  try {
    const tag = Intl.getCanonicalLocales(written.replaceAll('_', '-'))[0]
    return tag === undefined || /^(?:und|x|zxx|mul)\b/.test(tag) ? undefined : owned(tag)
  } catch {
    return undefined
  }
}
