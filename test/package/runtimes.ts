/** Brings other versions of Node.js, and other runtimes, from the registry that dependencies come from. */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { RUNTIMES } from './place.js'

/** The oldest that package.json allows, the last that cannot `require` a module, and the newest of each line. */
export const NODES = ['20.18.1', '22.11.0', '22', '24', '26']

const { platform, arch } = process
const system = platform === 'win32' ? 'win' : platform
const exe = platform === 'win32' ? '.exe' : ''

/** The path of `node`. It is downloaded once; `npm ci` throws it away. */
export function nodeBinary(version: string): Promise<string> {
  const name = platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'
  return download(`${name}-${system}-${arch}@${version}`, `bin/node${exe}`)
}

export function bunBinary(): Promise<string> {
  const os = platform === 'win32' ? 'windows' : platform
  return download(`@oven/bun-${os}-${arch === 'arm64' ? 'aarch64' : arch}@1`, `bin/bun${exe}`)
}

export function denoBinary(): Promise<string> {
  return download(`@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}@2`, `deno${exe}`)
}

async function download(spec: string, binary: string): Promise<string> {
  const folder = join(RUNTIMES, spec.replaceAll('/', '-'))
  const found = join(folder, 'node_modules/runtime', binary)
  if (existsSync(found)) return found
  await mkdir(folder, { recursive: true })
  const options = ['--no-save', '--no-package-lock', '--ignore-scripts', '--prefix', folder]
  const windows = platform === 'win32'
  const npm = windows ? 'npm.cmd' : 'npm'
  await promisify(execFile)(npm, ['install', ...options, `runtime@npm:${spec}`], { shell: windows })
  return found
}
