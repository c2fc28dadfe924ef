/**
 * The fields of a request that few requests have, as lines of its record. The first character of a line is its tag.
 * Texts stand there as they are: data is JSON, and JSON within JSON would escape every quote.
 *
 *   pNUMBER   priority
 *   tNUMBER   when it is due, on the store's time scale
 *   r         it is a revisit
 *   {…        purpose, via and hint as JSON; before format 4, all of the above too
 *   mTEXT     method
 *   h{…       headers as JSON
 *   lTEXT     label
 *   dTEXT     data
 *   oNUMBER   links since the last page in the scope
 *   bTEXT     body, to the end of the record; x: in base64
 *
 * A text that would not survive this, such as a label of two lines, is written as a JSON string under the tag in
 * upper case.
 */

import type { CrawlRequest, RequestExtras } from '../../../types.js'

const LINE = '\n'

/** Fields of a request that are absent from most, and when it is due if it is scheduled for later. */
export type RareFields = Partial<
  Pick<CrawlRequest, 'priority' | 'purpose' | 'via' | 'hint' | 'revisit' | 'extras'>
> & { at?: number }

/** Lines, each with a line break before it; nothing for most requests. */
export function writeRareFields(request: CrawlRequest, at: number | undefined): string {
  const { priority, purpose, via, hint, revisit, extras } = request
  let lines = ''
  if (priority !== 0) lines += `${LINE}p${priority}`
  if (at !== undefined) lines += `${LINE}t${at}`
  if (revisit) lines += `${LINE}r`
  if (purpose || via || hint) lines += LINE + JSON.stringify({ purpose, via, hint })
  return extras === undefined ? lines : lines + writeExtras(extras)
}

function writeExtras({ method, headers, body, binary, label, data, outside }: RequestExtras): string {
  let lines = ''
  if (method !== undefined) lines += LINE + writeText('m', method)
  if (headers !== undefined) lines += `${LINE}h${JSON.stringify(headers)}`
  if (label !== undefined) lines += LINE + writeText('l', label)
  if (data !== undefined) lines += LINE + writeText('d', data)
  if (outside !== undefined) lines += `${LINE}o${outside}`
  if (body === undefined) return lines
  const tag = binary ? 'x' : 'b'
  return lines + LINE + (isWellFormed(body) ? tag + body : escaped(tag, body))
}

function writeText(tag: string, text: string): string {
  return text.includes(LINE) || !isWellFormed(text) ? escaped(tag, text) : tag + text
}

/** UTF-8 cannot represent half of a surrogate pair. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed()
}

function escaped(tag: string, text: string): string {
  return tag.toUpperCase() + JSON.stringify(text)
}

/** Reads the lines of a record from this position on; undefined if one of them is not known. */
export function readRareFields(record: string, from: number): RareFields | undefined {
  const fields: { -readonly [Name in keyof RareFields]: RareFields[Name] } = {}
  let extras: { -readonly [Name in keyof RequestExtras]: RequestExtras[Name] } | undefined
  for (let start = from, end = from; start < record.length; start = end + LINE.length) {
    const tag = record[start]!
    end = record.indexOf(LINE, start)
    if (end < 0 || tag === 'b' || tag === 'x') end = record.length
    const line = record.slice(start + 1, end)
    switch (tag) {
      case 'p':
        fields.priority = Number(line)
        continue
      case 't':
        fields.at = Number(line)
        continue
      case 'r':
        fields.revisit = true
        continue
      case '{':
        Object.assign(fields, JSON.parse(tag + line))
        continue
      case 'o':
        extras = { ...extras, outside: Number(line) }
        continue
    }
    const name = NAMES[tag.toLowerCase()]
    if (name === undefined) return undefined
    extras ??= {}
    const isEscaped = tag !== tag.toLowerCase()
    extras[name] = isEscaped || name === 'headers' ? JSON.parse(line) : line
    if (tag === 'x' || tag === 'X') extras.binary = true
  }
  if (extras !== undefined) fields.extras = extras
  return fields
}

const NAMES: Readonly<Record<string, Exclude<keyof RequestExtras, 'binary' | 'outside'>>> = {
  m: 'method',
  h: 'headers',
  l: 'label',
  d: 'data',
  b: 'body',
  x: 'body',
}
