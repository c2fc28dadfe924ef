/**
 * Reads JSON as people write it: with comments, trailing or missing commas, line breaks in strings, single quotes, names
 * without quotes, several values one after the other. The time is linear in the length, and nesting is limited.
 */

import type { JsonValue } from './contract.js'

/** Nesting beyond this is not data that anyone reads, and would overflow the stack of those who try. */
const MOST_NESTING = 100

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /[\p{L}\p{N}_$@.#/-]+/uy
const SPACE = /[\s\ufeff\p{Cc};]+/uy
/** What some pages put around JSON or between its parts. */
const WRAPPERS = ['<!--', '-->', '<![CDATA[', ']]>']
/** A comment without data in it; others are there to hide the script from old browsers. */
const COMMENT = /<!--[^{[<]{0,1000}?-->/y
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }
const WORDS: Readonly<Record<string, JsonValue>> = {
  true: true,
  false: false,
  null: null,
  undefined: null,
  NaN: null,
}

/**
 * The values in a text.
 *
 * @throws SyntaxError if it is not JSON, or nested too deeply.
 * @example looseJson('{"a": 1, // one\n}') // [{ a: 1 }]
 */
export function looseJson(text: string): JsonValue[] {
  try {
    const value = JSON.parse(text) as JsonValue
    if (isShallow(value)) return [value]
  } catch {
    return new LooseReader(text).values()
  }
  throw tooDeep()
}

function tooDeep(): SyntaxError {
  return new SyntaxError(`nested more than ${MOST_NESTING} levels deep`)
}

function isShallow(root: JsonValue): boolean {
  let level: JsonValue[] = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MOST_NESTING) return false
    const next: JsonValue[] = []
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue
      for (const child of Array.isArray(value) ? value : Object.values(value)) {
        if (typeof child === 'object' && child !== null) next.push(child)
      }
    }
    level = next
  }
  return true
}

class LooseReader {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  values(): JsonValue[] {
    const values: JsonValue[] = []
    for (this.#skip(); this.#at < this.#text.length; this.#skip()) {
      if (this.#takes(',')) continue
      values.push(this.#value())
    }
    if (values.length === 0) throw new SyntaxError('no value')
    return values
  }

  #value(): JsonValue {
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object()
      case '[':
        return this.#array()
      case '"':
      case "'":
        return this.#string()
      default:
        return this.#number() ?? this.#word()
    }
  }

  #object(): JsonValue {
    const entries: [string, JsonValue][] = []
    this.#open()
    while (!this.#closes('}')) {
      const quote = this.#text[this.#at]
      const name = quote === '"' || quote === "'" ? this.#string() : this.#match(WORD)
      if (name === undefined) throw this.#unexpected()
      this.#skip()
      if (!this.#takes(':')) throw this.#unexpected()
      this.#skip()
      entries.push([name, this.#value()])
    }
    // Unlike an assignment, this keeps `__proto__` an ordinary name.
    return Object.fromEntries(entries)
  }

  #array(): JsonValue {
    const values: JsonValue[] = []
    this.#open()
    while (!this.#closes(']')) values.push(this.#value())
    return values
  }

  #open(): void {
    if (++this.#depth > MOST_NESTING) throw tooDeep()
    this.#at++
  }

  /** Whether the object or array ends here. A text that was cut off ends everything. */
  #closes(bracket: string): boolean {
    this.#skip()
    while (this.#takes(',')) this.#skip()
    if (!this.#takes(bracket) && this.#at < this.#text.length) return false
    this.#depth--
    return true
  }

  #string(): string {
    const text = this.#text
    const quote = text[this.#at++]!
    let value = ''
    let from = this.#at
    for (; this.#at < text.length; this.#at++) {
      const code = text[this.#at]!
      if (code === quote) break
      if (code !== '\\') continue
      value += text.slice(from, this.#at++) + this.#escape()
      from = this.#at + 1
    }
    value += text.slice(from, this.#at)
    this.#at++
    return value
  }

  /** The character at the position after a backslash; the position becomes that of its last character. */
  #escape(): string {
    const text = this.#text
    const code = text[this.#at]
    if (code === 'u') {
      const hex = text.slice(this.#at + 1, this.#at + 5)
      if (/^[\da-f]{4}$/i.test(hex)) {
        this.#at += 4
        return String.fromCharCode(Number.parseInt(hex, 16))
      }
    }
    return code === undefined ? '' : (ESCAPES[code] ?? code)
  }

  #number(): number | undefined {
    const written = this.#match(NUMBER)
    return written === undefined ? undefined : Number(written)
  }

  #word(): JsonValue {
    const start = this.#at
    const word = this.#match(WORD)
    if (word !== undefined && Object.hasOwn(WORDS, word)) return WORDS[word]!
    this.#at = start
    throw this.#unexpected()
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match === null) return undefined
    this.#at = pattern.lastIndex
    return match[0]
  }

  /** Skips white space, comments, and what wraps a script. */
  #skip(): void {
    const text = this.#text
    for (let start = -1; start !== this.#at; ) {
      start = this.#at
      this.#match(SPACE)
      if (text.startsWith('//', this.#at)) this.#skipTo('\n')
      else if (text.startsWith('/*', this.#at)) this.#skipTo('*/')
      else if (this.#match(COMMENT) === undefined)
        this.#at += WRAPPERS.find((wrapper) => text.startsWith(wrapper, this.#at))?.length ?? 0
    }
  }

  #skipTo(end: string): void {
    const at = this.#text.indexOf(end, this.#at)
    this.#at = at === -1 ? this.#text.length : at + end.length
  }

  #takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #unexpected(): SyntaxError {
    const found = this.#text.slice(this.#at, this.#at + 20)
    return new SyntaxError(found === '' ? 'it ends too early' : `unexpected ${JSON.stringify(found)}`)
  }
}
