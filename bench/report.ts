/** What every bench returns: figures with their bars, printed as one table and kept as JSON. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface Figure {
  readonly what: string
  readonly value: number
  readonly unit: string
  /** The figure must be at least, or at most, this. Absent: told for information. */
  readonly bar?: { readonly atLeast: number } | { readonly atMost: number }
}

export type Bench = () => Promise<readonly Figure[]>

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}

function meets({ value, bar }: Figure): boolean {
  if (bar === undefined) return true
  return 'atLeast' in bar ? value >= bar.atLeast : value <= bar.atMost
}

/** Prints a table and writes results/<name>.json. True if every bar was met. */
export function report(name: string, figures: readonly Figure[]): boolean {
  console.log(`\n${name}`)
  const width = Math.max(...figures.map(({ what }) => what.length))
  for (const figure of figures) {
    const value = `${round(figure.value)} ${figure.unit}`.padStart(18)
    const mark = figure.bar === undefined ? '' : meets(figure) ? 'ok' : 'MISSED'
    console.log(`  ${figure.what.padEnd(width)}${value}   ${barText(figure).padEnd(12)} ${mark}`)
  }
  const folder = fileURLToPath(new URL('./results/', import.meta.url))
  mkdirSync(folder, { recursive: true })
  const result = { name, node: process.version, figures: figures.map((f) => ({ ...f, ok: meets(f) })) }
  writeFileSync(`${folder}${name}.json`, `${JSON.stringify(result, null, 2)}\n`)
  return figures.every(meets)
}

function barText({ bar }: Figure): string {
  if (bar === undefined) return ''
  return 'atLeast' in bar ? `bar ≥ ${bar.atLeast}` : `bar ≤ ${bar.atMost}`
}

function round(value: number): string {
  if (value === 0) return '0'
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en')
  return String(Number(value.toPrecision(3)))
}
