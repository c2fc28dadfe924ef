/** Values of pages by field, for filters, facets and sorting: words as numbers into a list, numbers and dates as they are. */

import { ByteReader, ByteWriter, bytesOf, NumberList } from './bytes.js'
import type { CheckedFile, CheckedWriter, Place } from './checked-file.js'

/** Where a keyword column is: its values, for each page where its numbers begin, the numbers. */
export type KeywordPlaces = readonly [values: Place, starts: Place, numbers: Place]

/** Collects the words of a field, page after page. */
export class KeywordColumnWriter {
  readonly #numbers = new Map<string, number>()
  readonly #starts = new NumberList(256)
  readonly #ofPages = new NumberList(256)

  add(values: readonly string[]): void {
    this.#starts.push(this.#ofPages.length)
    for (const value of values) {
      let number = this.#numbers.get(value)
      if (number === undefined) {
        number = this.#numbers.size
        this.#numbers.set(value, number)
      }
      this.#ofPages.push(number)
    }
  }

  write(file: CheckedWriter): KeywordPlaces {
    const values = new ByteWriter()
    for (const value of this.#numbers.keys()) values.text(value)
    this.#starts.push(this.#ofPages.length)
    return [
      file.part(values.view()),
      file.part(bytesOf(this.#starts.view())),
      file.part(bytesOf(this.#ofPages.view())),
    ]
  }
}

/** The words of a field. */
export class KeywordColumn {
  readonly values: readonly string[]
  readonly #starts: Uint32Array
  readonly #ofPages: Uint32Array

  constructor(file: CheckedFile, [values, starts, numbers]: KeywordPlaces) {
    const reader = new ByteReader(file.read(values))
    const found: string[] = []
    while (!reader.isAtEnd) found.push(reader.text())
    this.values = found
    this.#starts = readNumbers(file, starts)
    this.#ofPages = readNumbers(file, numbers)
  }

  /** Numbers into `values` of a page. */
  of(page: number): Uint32Array {
    return this.#ofPages.subarray(this.#starts[page]!, this.#starts[page + 1]!)
  }

  /** The words of a page. */
  words(page: number): string[] {
    return Array.from(this.of(page), (number) => this.values[number]!)
  }
}

/** Collects the numbers of a field, page after page. */
export class NumberColumnWriter {
  #values = new Float64Array(256)
  #length = 0

  add(value: number | undefined): void {
    if (this.#length === this.#values.length) {
      const grown = new Float64Array(this.#length * 2)
      grown.set(this.#values)
      this.#values = grown
    }
    this.#values[this.#length++] = value ?? Number.NaN
  }

  write(file: CheckedWriter): Place {
    return file.part(bytesOf(this.#values.subarray(0, this.#length)))
  }
}

export function readNumbers(file: CheckedFile, place: Place): Uint32Array {
  const bytes = file.read(place)
  // A copy: typed arrays need an aligned start, and a view would keep the chunk.
  return new Uint32Array(new Uint8Array(bytes).buffer)
}

export function readDoubles(file: CheckedFile, place: Place): Float64Array {
  const bytes = file.read(place)
  return new Float64Array(new Uint8Array(bytes).buffer)
}
