/** `npm run test:nodes`: the packed package on every line of Node.js that it supports, and on what it does not. */

import { setup } from './pack.js'
import { bunBinary, denoBinary, NODES, nodeBinary } from './runtimes.js'
import { bring, FORMATS, run, smokeProblems } from './smoke.js'

setup()
for (const version of NODES) {
  const binary = await nodeBinary(version)
  for (const format of FORMATS) {
    report(`Node.js ${version} by ${format}`, await smokeProblems(binary, format))
  }
}
bring('one-crawl.mjs')
const bun = await run(await bunBinary(), ['one-crawl.mjs'])
report('Bun', bun.stdout.includes('KUMO_UNSUPPORTED_RUNTIME') ? [] : [JSON.stringify(bun)])
const inDeno = ['run', '-A', '--node-modules-dir=manual', 'one-crawl.mjs']
const deno = await run(await denoBinary(), inDeno)
report('Deno', deno.stdout.includes('"done"') ? [] : [JSON.stringify(deno)])
const workers = await run(await denoBinary(), [...inDeno, '2'])
report(
  'Deno with workers',
  workers.stdout.includes('KUMO_UNSUPPORTED_RUNTIME') ? [] : [JSON.stringify(workers)],
)

function report(what: string, problems: readonly string[]): void {
  console.log(`${what}: ${problems.length === 0 ? 'ok' : 'wrong'}`)
  for (const problem of problems) console.log(`  ${problem}`)
  if (problems.length > 0) process.exitCode = 1
}
