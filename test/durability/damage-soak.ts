/**
 * Damages every kind of file of a stored crawl as often as one likes: `npm run soak:damage`, or
 * `npm run soak:damage -- --trials 20 --seed 7 --workers 2`. It ends with a table, and with code 1 if the program died over
 * a damaged file, met an error that is not Kumo's, or lost or repeated pages without a word.
 */

import { parseArgs } from 'node:util'
import { seededRandom } from 'kumo/adapters'
import { damageRounds, INJURIES, type Injury, KINDS, type Kind, type Trial } from './damage-rounds.js'

const { values } = parseArgs({
  options: {
    trials: { type: 'string', default: '100' },
    seed: { type: 'string' },
    workers: { type: 'string', default: '0' },
    kinds: { type: 'string', default: Object.keys(KINDS).join() },
    injuries: { type: 'string', default: Object.keys(INJURIES).join() },
  },
})
const seed = values.seed === undefined ? Math.floor(Math.random() * 1e6) : Number(values.seed)
const kinds = values.kinds.split(',') as Kind[]
const injuries = values.injuries.split(',') as Injury[]
console.log(`seed ${seed}`)

const trials = await damageRounds({
  random: seededRandom(seed),
  kinds,
  injuries,
  trials: Number(values.trials),
  workers: Number(values.workers),
  onTrial({ kind, injury, repairs, file, at, outcome }) {
    if (!(outcome instanceof Error)) return
    console.log(`${kind} ${injury} at ${at} of ${file}${repairs ? ', repair' : ''}: ${outcome.message}`)
  },
})

const OUTCOMES = ['refused', 'told', 'whole', 'broken'] as const
console.log(`\n  ${'file, injury'.padEnd(32)}${OUTCOMES.map((each) => each.padStart(10)).join('')}`)
for (const kind of kinds) {
  for (const injury of injuries) {
    for (const repairs of [false, true]) {
      const these = trials.filter((each) => is(each, kind, injury, repairs))
      const cells = OUTCOMES.map((each) => String(these.filter((trial) => nameOf(trial) === each).length))
      const what = `${kind} ${injury}${repairs ? ', repair' : ''}`
      console.log(`  ${what.padEnd(32)}${cells.map((cell) => cell.padStart(10)).join('')}`)
    }
  }
}
process.exitCode = trials.some((trial) => nameOf(trial) === 'broken') ? 1 : 0

function is(trial: Trial, kind: Kind, injury: Injury, repairs: boolean): boolean {
  return trial.kind === kind && trial.injury === injury && trial.repairs === repairs
}

function nameOf({ outcome }: Trial): (typeof OUTCOMES)[number] {
  return outcome instanceof Error ? 'broken' : outcome
}
