/** Runs the storm of ends in a process of its own, which must survive it. */

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('./storm-program.mjs', import.meta.url))

export interface Storm {
  /** How many crawls are ended, at least one of each kind if there are eleven. */
  readonly ends: number
  readonly seed: number
  /** Told of its progress, line by line. */
  readonly onLine?: (line: string) => void
}

export interface Ends {
  /** By kind; empty if the process did not come to its end. */
  readonly counts: Readonly<Record<string, number>>
  readonly code: number | null
  readonly signal: string | null
  readonly complaints: string
}

export function storm({ ends, seed, onLine }: Storm): Promise<Ends> {
  // What vitest sets for itself is no business of the program.
  const { NODE_OPTIONS: _, ...env } = process.env
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify({ ends, seed })], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  let complaints = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (said += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (/^\d+ ends$/.test(text.trim())) onLine?.(text.trim())
    else complaints += text
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      resolve({ counts: said === '' ? {} : JSON.parse(said), code, signal, complaints })
    })
  })
}
