/** `npm run test:nodes`: the packed package on every line of Node.js that it supports, on Bun and on Deno. */

import { setup } from './pack.js'
import { bunBinary, denoBinary, NODES } from './runtimes.js'
import { bring, prepare, run, smokeTests } from './smoke.js'

setup()
const binaries = await downloaded('Node.js', prepare)
for (const version of binaries ? NODES : []) {
  for (const [name, smoke] of smokeTests(version)) {
    report(`Node.js ${version} ${name}`, await smoke(binaries!.get(version)!))
  }
}

bring('one-crawl.mjs')
const REFUSED = 'KUMO_UNSUPPORTED_RUNTIME'
const bun = await downloaded('Bun', bunBinary)
if (bun) await expectOutput('Bun', bun, ['one-crawl.mjs'], REFUSED)
const deno = await downloaded('Deno', denoBinary)
const inDeno = ['run', '-A', '--node-modules-dir=manual', 'one-crawl.mjs']
if (deno) {
  await expectOutput('Deno', deno, inDeno, '"done"')
  await expectOutput('Deno with workers', deno, [...inDeno, '2'], REFUSED)
}

/** Without the registry there is nothing to test, which is not a failure. */
async function downloaded<T>(name: string, download: () => Promise<T>): Promise<T | undefined> {
  try {
    return await download()
  } catch (error) {
    console.log(`${name}: skipped, because ${(error as Error).message}`)
    return undefined
  }
}

async function expectOutput(name: string, binary: string, args: string[], expected: string): Promise<void> {
  const printed = await run(binary, args)
  report(name, printed.stdout.includes(expected) ? [] : [JSON.stringify(printed)])
}

function report(name: string, problems: readonly string[]): void {
  console.log(`${name}: ${problems.length === 0 ? 'ok' : 'FAILED'}`)
  for (const problem of problems) console.log(`  ${problem}`)
  if (problems.length > 0) process.exitCode = 1
}
