/** What the compiler says about files that tests write. */

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { PROJECT } from './run-program.js'

export interface TypeError {
  /** Within the folder. */
  readonly file: string
  readonly line: number
  readonly message: string
}

/** Compiles the files of a folder, by a configuration that is written into it. */
export function typeErrors(
  folder: string,
  config: { compilerOptions: object; files: readonly string[] },
): TypeError[] {
  const path = join(folder, 'tsconfig.json')
  writeFileSync(path, JSON.stringify({ extends: join(PROJECT, 'tsconfig.json'), include: [], ...config }))
  const compiler = join(PROJECT, 'node_modules/typescript-native/bin/tsc')
  const args = [compiler, '-p', path, '--noEmit', '--pretty', 'false']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  const errors = [...stdout.matchAll(/^([^\s(][^(\n]*)\((\d+),\d+\): error TS\d+: (.*(?:\n .*)*)$/gm)].map(
    ([, file = '', line, message = '']) => ({
      file: relative(folder, resolve(folder, file)),
      line: Number(line),
      message,
    }),
  )
  if ((status === 0) !== (errors.length === 0) || stderr !== '')
    throw new Error(`The compiler failed:\n${stdout}${stderr}`)
  return errors
}
