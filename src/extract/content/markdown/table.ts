/** Tables: their cells in a grid, and whether a table is one, or only places things on the page. */

import { type ContentElement, elementsIn } from '../tree.js'

export interface Table {
  readonly caption: ContentElement | undefined
  /** Undefined where a cell of another row or column reaches. */
  readonly rows: readonly (readonly (ContentElement | undefined)[])[]
  /** Whether the first row has the names of the columns. */
  readonly hasHeader: boolean
}

const GROUPS: ReadonlySet<string> = new Set(['thead', 'tbody', 'tfoot'])
/** Content that no cell of Markdown can hold. */
const TOO_RICH: ReadonlySet<string> = new Set(
  'table pre h1 h2 h3 h4 h5 h6 blockquote hr figure dl'.split(' '),
)
/** Columns that one cell may take. */
const WIDEST = 20
/** Cells of one table that may be empty because another reaches there. */
const MOST_COVERED = 10_000
/** Blocks in a cell, from which a table is no table. */
const MANY_BLOCKS = 12

/** Undefined if it is used for the layout of the page, or too rich for Markdown. */
export function tableOf(element: ContentElement): Table | undefined {
  if (element.attribute('role') === 'presentation') return undefined
  const trs: ContentElement[] = []
  let caption: ContentElement | undefined
  for (const child of element.children) {
    if (typeof child === 'string') continue
    if (child.tag === 'tr') trs.push(child)
    else if (child.tag === 'caption') caption ??= child
    else if (GROUPS.has(child.tag)) {
      for (const row of child.children) if (typeof row !== 'string' && row.tag === 'tr') trs.push(row)
    }
  }
  if (trs.length === 0 || isTooRich(trs)) return undefined
  const rows = gridOf(trs)
  const columns = Math.max(...rows.slice(0, 1000).map((row) => row.length))
  if (columns < 2) return undefined
  const cells = cellsOf(trs[0]!)
  const hasHeader =
    trs[0]!.parent?.tag === 'thead' || (cells.length > 0 && cells.every(({ tag }) => tag === 'th'))
  return { caption, rows, hasHeader }
}

function cellsOf(row: ContentElement): ContentElement[] {
  return row.children.filter((child): child is ContentElement => {
    return typeof child !== 'string' && (child.tag === 'td' || child.tag === 'th')
  })
}

function isTooRich(rows: readonly ContentElement[]): boolean {
  for (const row of rows) {
    for (const cell of cellsOf(row)) {
      let blocks = 0
      for (const inner of elementsIn(cell)) {
        if (TOO_RICH.has(inner.tag)) return true
        if (inner.tag === 'p' || inner.tag === 'li' || inner.tag === 'div') blocks++
      }
      if (blocks > MANY_BLOCKS) return true
    }
  }
  return false
}

function gridOf(rows: readonly ContentElement[]): (ContentElement | undefined)[][] {
  /** By column: rows that a cell above still covers. */
  const covered: number[] = []
  let left = MOST_COVERED
  return rows.map((row) => {
    const grid: (ContentElement | undefined)[] = []
    const skipCovered = () => {
      while ((covered[grid.length] ?? 0) > 0 && left > 0) {
        left--
        covered[grid.length]!--
        grid.push(undefined)
      }
    }
    for (const cell of cellsOf(row)) {
      skipCovered()
      const width = Math.min(spanOf(cell, 'colspan'), WIDEST)
      const height = spanOf(cell, 'rowspan')
      for (let column = 0; column < width; column++) {
        if (column > 0 && left-- <= 0) break
        if (height > 1) covered[grid.length] = height - 1
        grid.push(column === 0 ? cell : undefined)
      }
    }
    skipCovered()
    return grid
  })
}

function spanOf(cell: ContentElement, attribute: string): number {
  const span = Number.parseInt(cell.attribute(attribute) ?? '1', 10)
  return Number.isNaN(span) ? 1 : Math.max(1, span)
}
