/** Runs smoke.mjs on some runtime, and says what of it came out wrong. */

import { execFile } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { APP } from './place.js'

export const FORMATS = ['import', 'require'] as const

const TITLES = ['done', 'page /', 'page /a', 'page /b', 'page /c/d']
/** Long enough for a slow machine: only a program that hangs is ended. */
const HANGS_AFTER_MS = 120_000

/** Brings a program, and what it needs, to where the package is installed. */
export function bring(...names: string[]): void {
  for (const name of names) copyFileSync(fileURLToPath(new URL(name, import.meta.url)), join(APP, name))
}

/** Everything that a program prints, and `code`. */
export async function run(binary: string, args: readonly string[]) {
  // What vitest sets for itself is no business of the program.
  const { NODE_OPTIONS: _, ...env } = process.env
  const options = { cwd: APP, env, timeout: HANGS_AFTER_MS }
  try {
    return { code: 0, ...(await promisify(execFile)(binary, [...args], options)) }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number | null; stdout: string; stderr: string }
    return { code, stdout, stderr }
  }
}

/** One line for each thing that is not as it should be. */
export async function smokeProblems(binary: string, format: (typeof FORMATS)[number]): Promise<string[]> {
  bring('smoke.mjs', 'heading.mjs')
  const { code, stdout, stderr } = await run(binary, ['smoke.mjs', format])
  if (code !== 0) return [`it ended with ${code}: ${stderr}`]
  const { found, errors } = JSON.parse(stdout) as Record<string, Record<string, unknown>>
  const runs = Object.entries(found!)
  const wrong = runs
    .filter(([, titles]) => JSON.stringify(titles) !== JSON.stringify(TITLES))
    .map(([name, titles]) => `${name}: ${titles}`)
  const expected = { kumo: true, conformance: true, sim: true, both: true, others: false }
  const strange = Object.entries(expected)
    .filter(([entry, isKumoError]) => errors![entry] !== isKumoError)
    .map(([entry, isKumoError]) => `an error of ${entry}: expected instanceof KumoError ${isKumoError}`)
  return [...wrong, ...strange, ...(runs.length === 16 ? [] : [`${runs.length} runs instead of 16`])]
}
