/** A program that was bundled together with Kumo fails before its first request, and says what to do. */

import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { rollup } from 'rollup'
import { expect, test } from 'vitest'
import { APP, INSTALLED } from './place.js'
import { bring, run } from './smoke.js'

const REFUSED = {
  isKumoError: true,
  code: 'KUMO_NOT_INSTALLED',
  message: expect.stringContaining('keep kumo external: see docs/bundling.md'),
  requests: 0,
}

async function printed(file: string, ...args: string[]): Promise<unknown> {
  const { stdout, stderr } = await run(process.execPath, [file, ...args])
  return JSON.parse(stdout || JSON.stringify({ stderr }))
}

async function withEsbuild(outfile: string, options: BuildOptions): Promise<string> {
  bring('one-crawl.mjs')
  const bundled = { bundle: true, platform: 'node', logLevel: 'error', ...options } as const
  await build({ entryPoints: [join(APP, 'one-crawl.mjs')], outfile: join(APP, outfile), ...bundled })
  return outfile
}

test.each<[outfile: string, BuildOptions]>([
  ['esbuild.mjs', { format: 'esm' }],
  ['esbuild.cjs', { format: 'cjs' }],
  ['esbuild-require.cjs', { format: 'cjs', alias: { kumo: join(INSTALLED, 'dist/index.cjs') } }],
])('%s', async (outfile, options) => {
  const file = await withEsbuild(outfile, options)
  expect(await printed(file)).toEqual(REFUSED)
  expect(await printed(file, '2')).toEqual(REFUSED)
})

test.each<[outfile: string, BuildOptions]>([
  ['external.mjs', { format: 'esm', external: ['kumo'] }],
  ['external.cjs', { format: 'cjs', external: ['kumo'] }],
])('%s, with Kumo kept external', async (outfile, options) => {
  const file = await withEsbuild(outfile, options)
  expect(await printed(file)).toEqual({ reason: 'done', pages: 1, requests: 2 })
  expect(await printed(file, '2')).toEqual({ reason: 'done', pages: 1, requests: 2 })
})

test('rollup', async () => {
  bring('one-crawl.mjs')
  const own = {
    name: 'own',
    resolveId: (id: string) => (id === 'kumo' ? join(INSTALLED, 'dist/index.js') : null),
  }
  const external = (id: string) => id !== 'kumo' && /^[\w@]/.test(id)
  const bundle = await rollup({ input: join(APP, 'one-crawl.mjs'), external, plugins: [own] })
  await bundle.write({ file: join(APP, 'rollup.mjs'), format: 'es', inlineDynamicImports: true })
  expect(await printed('rollup.mjs')).toEqual(REFUSED)
})

test.each(['undici', 'ipaddr.js'])('without %s a crawl fails before its first request', async (name) => {
  const app = join(APP, `without-${name}`)
  cpSync(INSTALLED, join(app, 'node_modules/kumo'), { recursive: true })
  cpSync(join(fileURLToPath(new URL('.', import.meta.url)), 'one-crawl.mjs'), join(app, 'one-crawl.mjs'))
  mkdirSync(join(app, 'node_modules', name))
  writeFileSync(join(app, 'node_modules', name, 'package.json'), '{ "exports": { ".": "./gone.js" } }')
  expect(await printed(join(app, 'one-crawl.mjs'))).toEqual({
    ...REFUSED,
    message: expect.stringContaining(`Kumo could not load its dependency '${name}'`),
  })
})
