/** The link scanner against htmlparser2 on the same page, by turns. */

import { measureScanner } from './micro/scanner.js'
import type { Bench } from './report.js'

export const scanner: Bench = async () => {
  const { scannerUs, parserUs, tokenizerUs, ratio } = measureScanner()
  return [
    { what: 'scanner', value: scannerUs, unit: 'µs/page' },
    { what: 'htmlparser2 Tokenizer', value: tokenizerUs, unit: 'µs/page' },
    { what: 'htmlparser2 Parser', value: parserUs, unit: 'µs/page' },
    { what: 'scanner ÷ Parser', value: ratio, unit: '', bar: { atMost: 0.25 } },
  ]
}
