/** Runs a script of this folder in a process of its own and answers with what it printed. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const folder = fileURLToPath(new URL('.', import.meta.url))

export async function runTypeScript(script: string, args: readonly string[], flags: readonly string[] = []) {
  // `kumo` is to mean the built package here, not its source: see tsconfig.json of this folder.
  const env = { ...process.env, TSX_TSCONFIG_PATH: `${folder}tsconfig.json` }
  const nodeArgs = ['--import', 'tsx', ...flags, `${folder}${script}`, ...args]
  const { stdout } = await promisify(execFile)(process.execPath, nodeArgs, { env, maxBuffer: 2 ** 26 })
  return stdout
}
