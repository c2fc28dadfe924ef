/**
 * `npm run experiments` repeats the experiments of the papers, `npm run experiments -- refresh` one of them. They print
 * tables, write charts to docs/, and compare the results with the claims. If a claim does not hold, the exit code is 1.
 * docs/papers.md lists every figure and table with its command.
 */

import { bench } from './bench.js'
import { cluster } from './cluster/index.js'
import { feeds } from './feeds/index.js'
import { feedsLive } from './feeds-live/index.js'
import { live } from './live.js'
import { refresh } from './refresh/index.js'
import { longMisses } from './refresh/sockets.js'
import { type Claim, isShown } from './table.js'

type Experiment = () => readonly Claim[] | Promise<readonly Claim[]>

const EXPERIMENTS: Readonly<Record<string, Experiment>> = {
  scaling: () => bench('scaling'),
  balance: () => bench('balance'),
  pipeline: () => bench('pipeline'),
  refresh,
  feeds,
  live,
}
/** Run by name only: they take long, or check what is not reached yet. */
const LONG_EXPERIMENTS: Readonly<Record<string, Experiment>> = {
  'refresh-300-days': longMisses,
  'feeds-live': feedsLive,
  cluster,
}

const known = { ...EXPERIMENTS, ...LONG_EXPERIMENTS }
const names = process.argv.slice(2)
const unknown = names.filter((name) => !Object.hasOwn(known, name))
if (unknown.length > 0) {
  console.error(`No experiment named ${unknown.join(', ')}; there are: ${Object.keys(known).join(', ')}.`)
  process.exit(2)
}
let met = true
for (const name of names.length > 0 ? names : Object.keys(EXPERIMENTS)) {
  console.log(`# ${name}\n`)
  for (const claim of await known[name]!()) met = isShown(claim) && met
}
process.exit(met ? 0 : 1)
