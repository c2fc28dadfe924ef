/**
 * Programs of this project as plain JavaScript. A loader that compiles TypeScript on the way makes a process spend most
 * of its time on starting, and tests start many.
 */

import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const PROJECT = fileURLToPath(new URL('..', import.meta.url))
/** Inside node_modules, so that what they import is found. */
const FOLDER = join(PROJECT, 'node_modules/.kumo-test/programs')
const ENTRIES: Readonly<Record<string, string>> = {
  kumo: 'src/index.ts',
  'kumo/adapters': 'src/adapters.ts',
  'kumo/content': 'src/extract/content/index.ts',
  'kumo/feeds': 'src/feeds/index.ts',
  'kumo/redis': 'src/stores/redis/index.ts',
  'kumo/search': 'src/search/index.ts',
  'kumo/warc': 'src/warc/index.ts',
  'kumo/graph': 'src/hooks/graph/index.ts',
  'kumo/sinks': 'src/hooks/sinks/index.ts',
  'kumo/conformance': 'src/conformance/index.ts',
  'kumo/sim': 'src/sim/index.ts',
}

const built = new Map<string, Promise<string>>()

/** Removes everything that was built. */
export function removeBuiltPrograms(): void {
  rmSync(FOLDER, { recursive: true, force: true })
}

/** The path of the program as JavaScript. The examples are built together, any other program on its own. */
export async function builtProgram(path: string): Promise<string> {
  const folder = dirname(path)
  const isExample = folder === 'examples'
  const key = isExample ? folder : path
  let place = built.get(key)
  if (place === undefined) {
    place = buildPrograms(isExample ? examples() : [path], key)
    built.set(key, place)
  }
  return join(await place, basename(path).replace(/\.ts$/, '.js'))
}

function examples(): string[] {
  return readdirSync(join(PROJECT, 'examples'))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `examples/${name}`)
}

/** Returns the folder of the programs. Beside them are the program of worker threads and modules that they name by URL. */
async function buildPrograms(paths: readonly string[], key: string): Promise<string> {
  const outdir = join(FOLDER, `${key.replaceAll(/\W/g, '-')}-${process.pid}`)
  mkdirSync(outdir, { recursive: true })
  await build({
    absWorkingDir: PROJECT,
    entryPoints: [...paths, 'src/run/threads/thread.ts'],
    entryNames: '[name]',
    outdir,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    alias: Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, join(PROJECT, file)])),
    logLevel: 'warning',
  })
  const folder = join(PROJECT, dirname(paths[0]!))
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.mjs')) copyFileSync(join(folder, name), join(outdir, name))
  }
  return outdir
}
