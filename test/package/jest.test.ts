/** Jest runs CommonJS in scripts where `import()` is refused: the package must do without it. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { bring, run } from './smoke.js'

test('a crawl with a store, cookies and a DOM where import() is refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kumo-vm-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  bring('in-vm.cjs')
  const { stdout, stderr } = await run(process.execPath, ['in-vm.cjs', folder])
  expect({ stdout: stdout.trim(), stderr }).toEqual({ stdout: '["done","one"]', stderr: '' })
})
