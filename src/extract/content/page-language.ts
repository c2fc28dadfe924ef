import type { Page } from '../contract.js'
import { detectLanguage } from './language.js'

/** The root element comes first, and its attributes are short. */
const ROOT_WITHIN = 4096
const LANG = /<html\b[^>]*?\s(?:xml:)?lang\s*=\s*["']?([a-z]{2,3}(?:-[a-z\d]{2,8})*)/i
const TAG = /^\s*([a-z]{2,3}(?:-[a-z\d]{2,8})*)\s*$/i
/** Above this the text clearly is in the detected language. */
const CLEAR = 0.5

/** The language that a page declares, unless its text clearly is in another one. As a tag of BCP 47. */
export function writtenLanguage(page: Page): string | undefined {
  const declared = declaredLanguage(page)
  const detected = detectLanguage(page.text)
  if (detected === undefined || declared === undefined) return declared ?? detected?.code
  const isSame = declared.toLowerCase().split('-')[0] === detected.code
  return isSame || detected.confidence <= CLEAR ? declared : detected.code
}

/** From the root element or, failing that, from the Content-Language header if it names one language. */
function declaredLanguage({ content, headers }: Page): string | undefined {
  const written = LANG.exec(content.slice(0, ROOT_WITHIN))?.[1]
  return written ?? TAG.exec(headers.get('content-language') ?? '')?.[1]
}
