/** How experiments print their results. */

import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A claim of an experiment, and whether it holds. */
export interface Claim {
  readonly what: string
  readonly holds: boolean
}

/** Columns are as wide as their widest cell; numbers are right-aligned. */
export function printTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const cells = [head, ...rows.map((row) => row.map(formatted))]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join('  ')
  console.log(line(head))
  console.log(widths.map((width) => '-'.repeat(width)).join('  '))
  for (const row of cells.slice(1)) console.log(line(row))
  console.log()
}

/** Writes a chart to docs/. */
export function writeChart(name: string, svg: string): void {
  writeFileSync(fileURLToPath(new URL(`../docs/${name}`, import.meta.url)), svg)
  console.log(`docs/${name} is written.\n`)
}

/** Prints whether a claim holds, and returns it. */
export function isShown({ what, holds }: Claim): boolean {
  console.log(`${holds ? 'shown    ' : 'NOT SHOWN'}  ${what}`)
  return holds
}

/** Three digits, or all digits before the decimal point. */
function formatted(value: string | number): string {
  if (typeof value === 'string') return value
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return String(Number(value.toPrecision(3)))
}
