/** Pages of manuals for the content bench, unpacked from ../shared/sites into a temporary folder. */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { elementsIn } from '../src/extract/content/tree.js'
import { buildTree } from '../src/extract/content/tree-builder.js'
import { readableTextOf } from '../src/extract/content/tree-text.js'

export interface ManualPage {
  readonly html: string
  /** The text of its body, which its generator marks. */
  readonly body: string
}

let pages: readonly string[] | undefined

/** The pages of the Python manual. */
function pythonPages(): readonly string[] {
  pages ??= unpacked(fileURLToPath(new URL('../../shared/sites/python.tar.gz', import.meta.url)))
  return pages
}

function unpacked(archive: string): readonly string[] {
  if (!existsSync(archive)) return []
  const folder = mkdtempSync(join(tmpdir(), 'kumo-bench-'))
  try {
    execFileSync('tar', ['-xzf', archive, '-C', folder])
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
    return names
      .filter((name) => name.endsWith('.html'))
      .map((name) => readFileSync(join(folder, name), 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Pages with a marked body. */
export function manualPages(): readonly ManualPage[] {
  return pythonPages().flatMap((html) => {
    for (const element of elementsIn(buildTree(html, 'bench', 'bench'))) {
      if (element.attribute('role') === 'main') return [{ html, body: readableTextOf(element) }]
    }
    return []
  })
}

/** Up to `most` pages whose length is in the range. */
export function pagesOfSize(from: number, to: number, most: number): readonly string[] {
  return pythonPages()
    .filter(({ length }) => length >= from && length <= to)
    .slice(0, most)
}
