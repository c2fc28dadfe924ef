/** Runs a program of this project as its reader would, in a process of its own. */

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { builtProgram } from './built-program.js'

export const PROJECT = fileURLToPath(new URL('..', import.meta.url))

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** What a run may be given besides its arguments. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Called with its process. */
  readonly onStart?: (child: ChildProcess) => void
  /** Called with all that was printed so far, whenever there is more. */
  readonly onOutput?: (stdout: string, child: ChildProcess) => void
  /** The same for what was printed as errors. */
  readonly onErrors?: (stderr: string, child: ChildProcess) => void
  /** What it reads from standard input. Absent: there is none. */
  readonly input?: string
  /** Runs the source with tsx, which takes longer to start. */
  readonly asSource?: boolean
}

/** The program's path is relative to the project. Resolves when it has ended. */
export async function runProgram(
  path: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ran> {
  const program = options.asSource ? ['--import', 'tsx', path] : [await builtProgram(path)]
  // What vitest sets for itself is no business of the program.
  const { NODE_OPTIONS: _, FORCE_COLOR: __, ...inherited } = process.env
  const child = spawn(process.execPath, [...program, ...args], {
    cwd: PROJECT,
    env: { ...inherited, ...options.env },
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  options.onStart?.(child)
  child.stdin?.end(options.input)
  let stdout = ''
  let stderr = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    options.onOutput?.(stdout, child)
  })
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    options.onErrors?.(stderr, child)
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}
