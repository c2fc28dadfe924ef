import { spawnSync } from 'node:child_process'
import type { Claim } from './table.js'

/** The experiments that measure speed are benches: they run in their own process, on the built library. */
export function bench(name: string): readonly Claim[] {
  const { status } = spawnSync('npm', ['run', '--silent', 'bench', '--', name], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  return [{ what: `the bars of the ${name} bench`, holds: status === 0 }]
}
