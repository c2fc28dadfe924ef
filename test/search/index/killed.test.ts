/** An index whose writer is killed at any moment is what its last commit said, or the next one. */

import { openIndex, openWriter } from 'kumo/search'
import { expect, test } from 'vitest'
import { seededRandom } from '../../../src/time.js'
import { runProgram } from '../../run-program.js'
import { isThorough } from '../../thorough.js'
import { freshFolder } from '../corpus.js'

const KILLS = isThorough ? 50 : 5
const DOCUMENTS = 60

test(`${KILLS} kills: each document is there once or not at all, and as the commits say`, async () => {
  const folder = freshFolder()
  const random = seededRandom(5)
  let round = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const commits = 3 + Math.floor(random.next() * 12)
    const { stdout } = await runProgram('test/search/index/killed-program.ts', [folder, String(round)], {
      // Killed when it has reported enough commits, in the middle of whatever it does then.
      onOutput: (text, child) => {
        if (text.split('\n').length > commits) child.kill('SIGKILL')
      },
    })
    const reported = stdout.trim().split('\n').at(-1)!.split(' ').map(Number)
    const [lastRound = 0, lastDocument = 0] = reported
    await compare(folder, lastRound, lastDocument)
    round = lastRound + 1
  }
})

/** The reported commit is there, or the one after it, whole. */
async function compare(folder: string, round: number, document: number): Promise<void> {
  const index = await openIndex(folder)
  await index.verify()
  const { hits } = await index.search('common', { limit: 1000, groupBy: 'none' })
  const sections = new Map<string, string[]>()
  for (const { id, anchor, snippet } of hits)
    sections.set(id, [...(sections.get(id) ?? []), `${anchor} ${snippet!.text}`])
  const states = [
    expected(round, document),
    expected(document === 59 ? round + 1 : round, (document + 20) % DOCUMENTS),
  ]
  const found = Object.fromEntries([...sections].map(([id, each]) => [id, each.sort()]))
  const isOne = states.some((state) => JSON.stringify(sorted(state)) === JSON.stringify(sorted(found)))
  if (!isOne) expect(sorted(found)).toEqual(sorted(states[0]!))
  const stats = await index.stats()
  expect(stats.documents).toBe(sections.size)
  await index.close()
  // The next writer takes over, and removes what is left behind.
  const writer = await openWriter(folder, { sync: false })
  expect(writer.stats().documents).toBe(sections.size)
  await writer.close()
}

/** What is there when round `round` has committed up to `document`. */
function expected(round: number, document: number): Record<string, string[]> {
  const state: Record<string, string[]> = {}
  for (let each = 0; each < DOCUMENTS; each++) {
    const last = each <= document ? round : round - 1
    if (last < 0 || (each + last) % 7 === 0) continue
    state[`https://example.com/${each}`] = [0, 1, 2].map((at) => `s${at} common round${last} part${at}`)
  }
  return state
}

function sorted(state: Record<string, string[]>): [string, string[]][] {
  return Object.entries(state).sort(([a], [b]) => (a < b ? -1 : 1))
}
