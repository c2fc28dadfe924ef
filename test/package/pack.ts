/** Packs the package once for all tests of it, builds it first if it is older than its sources, and installs it. */

import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { PROJECT } from '../run-program.js'
import { APP, INSTALLED } from './place.js'

/** What the build is made of, and the file that it writes last. */
const SOURCES = ['src', 'build', 'tsup.config.ts', 'package.json']
const BUILT = join(PROJECT, 'dist/index.d.cts')

export function setup(): void {
  if (!existsSync(BUILT) || newest(SOURCES) > statSync(BUILT).mtimeMs) npm('run', 'build')
  mkdirSync(dirname(APP), { recursive: true })
  const place = mkdtempSync(join(dirname(APP), 'packing-'))
  try {
    const [{ filename }] = JSON.parse(npm('pack', '--json', '--ignore-scripts', '--pack-destination', place))
    execFileSync('tar', ['-xzf', filename], { cwd: place })
    rmSync(APP, { recursive: true, force: true })
    mkdirSync(dirname(INSTALLED), { recursive: true })
    renameSync(join(place, 'package'), INSTALLED)
    // Otherwise the application would be a part of this project, and `kumo` its own name.
    writeFileSync(join(APP, 'package.json'), '{ "private": true, "dependencies": { "kumo": "*" } }')
  } finally {
    rmSync(place, { recursive: true })
  }
}

function npm(...args: string[]): string {
  const windows = process.platform === 'win32'
  return execFileSync(windows ? 'npm.cmd' : 'npm', args, {
    cwd: PROJECT,
    encoding: 'utf8',
    shell: windows,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** When the newest of these files, and of those in these folders, was written. */
function newest(paths: readonly string[]): number {
  const files = paths.flatMap((path) => {
    const whole = join(PROJECT, path)
    if (statSync(whole).isFile()) return [whole]
    return readdirSync(whole, { recursive: true, encoding: 'utf8' }).map((name) => join(whole, name))
  })
  return Math.max(...files.map((file) => statSync(file).mtimeMs))
}
