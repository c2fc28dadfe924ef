/**
 * Reads what a person typed. Nothing is an error: a quote that does not end, a colon after an unknown name, an operator
 * without a word are read as words or left out.
 */

/** Longer queries are cut: nobody typed them. */
const LONGEST_QUERY = 4000
const MOST_CLAUSES = 40

/** Words that belong together. */
export interface Clause {
  readonly text: string
  /** It stood in quotes. */
  readonly isPhrase: boolean
  readonly isExcluded: boolean
  /** It may be the beginning of a word. */
  readonly isPrefix: boolean
  /** The text field that must contain it; undefined for any. */
  readonly field: string | undefined
}

/** A condition on a field. */
export interface Condition {
  readonly field: string
  readonly value: string
  readonly isExcluded: boolean
}

export interface ParsedQuery {
  readonly clauses: readonly Clause[]
  readonly conditions: readonly Condition[]
}

/** What `name:` may mean. */
export interface QueryNames {
  /** Names of text fields. */
  readonly text: readonly string[]
  /** Names of fields with values. */
  readonly values: readonly string[]
}

const CONDITIONS: Readonly<Record<string, string>> = {
  site: 'site',
  host: 'site',
  lang: 'language',
  language: 'language',
  after: 'after',
  before: 'before',
}
const TEXT_FIELDS: Readonly<Record<string, string>> = { heading: 'headings', intitle: 'title', text: 'body' }
const NAMED = /^([a-z][\w-]*):(?=\S)/i
const CLOSING: Readonly<Record<string, string>> = {
  '"': '"',
  '“': '”',
  '„': '“',
  '«': '»',
  '「': '」',
  '『': '』',
}

export function parseQuery(query: string, names: QueryNames): ParsedQuery {
  const text = query.slice(0, LONGEST_QUERY)
  const clauses: Clause[] = []
  const conditions: Condition[] = []
  let at = 0
  while (clauses.length + conditions.length < MOST_CLAUSES) {
    while (at < text.length && isSpace(text, at)) at++
    if (at >= text.length) break
    let isExcluded = false
    if (text[at] === '-' && at + 1 < text.length && !isSpace(text, at + 1)) {
      isExcluded = true
      at++
    }
    const name = NAMED.exec(text.slice(at, at + 70))?.[1]
    const target = name === undefined ? undefined : targetOf(name, names)
    if (target !== undefined) at += name!.length + 1
    const { value, isPhrase, end } = readValue(text, at)
    at = end
    if (value.trim() === '') continue
    if (target?.condition !== undefined) conditions.push({ field: target.condition, value, isExcluded })
    else {
      const isPrefix = !isPhrase && value.endsWith('*')
      const word = isPrefix ? value.slice(0, -1) : value
      clauses.push({ text: word, isPhrase, isExcluded, isPrefix, field: target?.field })
    }
  }
  return { clauses, conditions }
}

function targetOf(
  written: string,
  { text, values }: QueryNames,
): { readonly condition?: string; readonly field?: string } | undefined {
  const name = written.toLowerCase()
  if (Object.hasOwn(CONDITIONS, name)) return { condition: CONDITIONS[name]! }
  const field = Object.hasOwn(TEXT_FIELDS, name) ? TEXT_FIELDS[name]! : name
  if (text.includes(field)) return { field }
  const own = [...text, ...values].find((each) => each.toLowerCase() === name)
  if (own === undefined) return undefined
  return text.includes(own) ? { field: own } : { condition: own }
}

function readValue(text: string, at: number): { value: string; isPhrase: boolean; end: number } {
  const quote = text[at]!
  if (Object.hasOwn(CLOSING, quote)) {
    const end = text.indexOf(CLOSING[quote]!, at + 1)
    if (end > 0) return { value: text.slice(at + 1, end), isPhrase: true, end: end + 1 }
    // It does not end: the words after it are words.
    at++
  }
  let end = at
  while (end < text.length && !isSpace(text, end) && text[end] !== '"') end++
  return {
    value: text.slice(at, end),
    isPhrase: false,
    end: end === at ? at + (at < text.length ? 1 : 0) : end,
  }
}

function isSpace(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit <= 32 || unit === 0x3000 || unit === 0xa0
}
