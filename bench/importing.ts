/** What `import 'kumo'` costs a program at its start, and what it must not load. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Bench, median } from './report.js'

const ROUNDS = 11
const root = fileURLToPath(new URL('..', import.meta.url))

const SCRIPT = `
const start = performance.now()
await import('kumo')
const ms = performance.now() - start
const { createRequire } = await import('node:module')
const loaded = Object.keys(createRequire(import.meta.url).cache).join()
console.log(JSON.stringify({ ms, heavy: ['undici', 'linkedom', 'level', 'tldts'].filter((name) => loaded.includes(name)) }))
`

export const importing: Bench = async () => {
  const times: number[] = []
  let heavy = 0
  for (let round = 0; round < ROUNDS; round++) {
    const args = ['--input-type=module', '-e', SCRIPT]
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
    const result = JSON.parse(stdout)
    times.push(result.ms)
    heavy = Math.max(heavy, result.heavy.length)
  }
  return [
    { what: "import 'kumo', median", value: median(times), unit: 'ms', bar: { atMost: 60 } },
    { what: 'heavy packages loaded', value: heavy, unit: '', bar: { atMost: 0 } },
  ]
}
