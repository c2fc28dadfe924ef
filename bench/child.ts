/** Scripts of this folder in processes of their own. */

import { type ChildProcess, execFile, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const folder = fileURLToPath(new URL('.', import.meta.url))
const nodeFlags = ['--import', 'tsx']
/** `kumo` is to mean the built package, not its source: see tsconfig.json of this folder. */
const env = { ...process.env, TSX_TSCONFIG_PATH: `${folder}tsconfig.json` }

/** Runs a script to its end and answers with what it printed. */
export async function runTypeScript(
  script: string,
  args: readonly string[],
  flags: readonly string[] = [],
): Promise<string> {
  const nodeArgs = [...nodeFlags, ...flags, `${folder}${script}`, ...args]
  const { stdout } = await promisify(execFile)(process.execPath, nodeArgs, { env, maxBuffer: 2 ** 26 })
  return stdout
}

/**
 * Starts a script that takes messages, without the loader: it rewrites what it loads, and that would be measured.
 *
 * @param descriptors How many files it may have open; by default as many as this process.
 */
export function forkPlain(script: string, descriptors?: number): ChildProcess {
  if (descriptors === undefined) return fork(`${folder}${script}`, { execArgv: [] })
  const limited = `ulimit -n ${descriptors} && exec "${process.execPath}" "$0"`
  return fork(`${folder}${script}`, { execArgv: ['-c', limited], execPath: '/bin/bash' })
}

/** Runs a plain script, without the loader, to its end and answers with what it printed. */
export async function runPlain(script: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [`${folder}${script}`, ...args])
  return stdout
}
