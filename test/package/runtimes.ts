/** Downloads other versions of Node.js and undici, and other runtimes, from the npm registry. */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DOWNLOADS } from './place.js'

/** The oldest that package.json allows, the last that cannot `require` a module, and the newest of each line. */
export const NODES = ['20.18.1', '22.11.0', '22', '24', '26']
/** Those that undici 8 supports: 22.19 and later. */
export const NODES_FOR_UNDICI_8: readonly string[] = ['22', '24', '26']

const { platform, arch } = process
const system = platform === 'win32' ? 'win' : platform
const exe = platform === 'win32' ? '.exe' : ''

/** The path of `node`. */
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

/** The folder of the package undici, version 8. */
export function undici8(): Promise<string> {
  return download('undici@8', '')
}

/** Each package is downloaded once, until `npm ci` deletes it; npm's own cache may still have it then. */
async function download(spec: string, path: string): Promise<string> {
  const folder = join(DOWNLOADS, spec.replaceAll('/', '-'))
  const found = join(folder, 'node_modules/runtime', path)
  if (existsSync(found)) return found
  await mkdir(folder, { recursive: true })
  const options = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund']
  const windows = platform === 'win32'
  const npm = windows ? 'npm.cmd' : 'npm'
  const args = ['install', ...options, '--prefer-offline', '--prefix', folder, `runtime@npm:${spec}`]
  await promisify(execFile)(npm, args, { shell: windows }).catch(({ stderr }) => {
    throw new Error(`npm could not install ${spec} (${/npm error code (\S+)/.exec(stderr)?.[1] ?? stderr})`)
  })
  return found
}
