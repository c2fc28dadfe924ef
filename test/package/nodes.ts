/** `npm run test:nodes`: the packed package on every line of Node.js that it supports. */

import { setup } from './pack.js'
import { NODES, nodeBinary } from './runtimes.js'
import { FORMATS, smokeProblems } from './smoke.js'

setup()
for (const version of NODES) {
  const binary = await nodeBinary(version)
  for (const format of FORMATS) {
    const problems = await smokeProblems(binary, format)
    console.log(`Node.js ${version} by ${format}: ${problems.length === 0 ? 'ok' : 'wrong'}`)
    for (const problem of problems) console.log(`  ${problem}`)
    if (problems.length > 0) process.exitCode = 1
  }
}
