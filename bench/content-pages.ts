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

/** Pages of the Python manual: every nth, in order of their names. None without ../shared. */
function pythonPages(every: number): readonly string[] {
  const archive = fileURLToPath(new URL('../../shared/sites/python.tar.gz', import.meta.url))
  if (!existsSync(archive)) return []
  const folder = mkdtempSync(join(tmpdir(), 'kumo-pages-'))
  try {
    execFileSync('tar', ['-xzf', archive, '-C', folder])
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.html'),
    )
    const chosen = names.sort().filter((_, at) => at % every === 0)
    return chosen.map((name) => readFileSync(join(folder, name), 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Every nth page that has a marked body. */
export function manualPages(every = 1): readonly ManualPage[] {
  return pythonPages(every).flatMap((html) => {
    for (const element of elementsIn(buildTree(html, 'bench', 'bench'))) {
      if (element.attribute('role') === 'main') return [{ html, body: readableTextOf(element) }]
    }
    return []
  })
}

/** Up to `most` pages whose length is in the range. */
export function pagesOfSize(from: number, to: number, most: number): readonly string[] {
  return pythonPages(1)
    .filter(({ length }) => length >= from && length <= to)
    .slice(0, most)
}
