/**
 * `npm run experiments` repeats the experiments of the papers, `npm run experiments -- refresh` one of them. They print
 * tables, write charts to docs/, and compare what came out with what it should show. If it does not, the exit code is 1.
 */

import { live } from './live.js'
import { refresh } from './refresh.js'
import { type Claim, isShown } from './table.js'

/** What happens in real time is waited for. */
const EXPERIMENTS: Record<string, () => readonly Claim[] | Promise<readonly Claim[]>> = { refresh, live }

const names = process.argv.slice(2)
const unknown = names.filter((name) => !Object.hasOwn(EXPERIMENTS, name))
if (unknown.length > 0) {
  console.error(
    `No experiment named ${unknown.join(', ')}; there are: ${Object.keys(EXPERIMENTS).join(', ')}.`,
  )
  process.exit(2)
}
let met = true
for (const [name, experiment] of Object.entries(EXPERIMENTS)) {
  if (names.length > 0 && !names.includes(name)) continue
  console.log(`# ${name}\n`)
  for (const claim of await experiment()) met = isShown(claim) && met
}
process.exit(met ? 0 : 1)
