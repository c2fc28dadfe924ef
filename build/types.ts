/**
 * Writes the types of the package, after tsup has written its code: the native compiler makes a declaration of each
 * source, and Rollup joins them to one file for each entry and format. tsup can do both, in six times the CPU time.
 */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'
import { library } from './entries.js'

const compiler = 'node_modules/typescript-native/bin/tsc'
// Outside node_modules: what is in there, the plugin leaves where it is.
const folder = mkdtempSync(join(tmpdir(), 'kumo-types-'))

try {
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'build', '--outDir', folder], {
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('The sources have type errors.')
  const declarationOf = (source: string) => join(folder, source.replace(/^src\/(.*)\.ts$/, '$1.d.ts'))
  const bundle = await rollup({
    input: Object.fromEntries(Object.entries(library).map(([name, source]) => [name, declarationOf(source)])),
    plugins: [dts()],
    external: (id) => !/^[./]/.test(id),
    onwarn: ({ code, message }) => {
      // Types that only other types name need no name outside.
      if (code !== 'PLUGIN_WARNING') throw new Error(message)
    },
  })
  for (const extension of ['d.ts', 'd.cts'])
    await bundle.write({
      dir: 'dist',
      format: 'es',
      entryFileNames: `[name].${extension}`,
      chunkFileNames: `[name]-[hash].${extension}`,
    })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
