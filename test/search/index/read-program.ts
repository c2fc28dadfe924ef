/**
 * Searches an index that another process writes. Run as `read-program FOLDER`; ends when the index says so, and prints how
 * many commits it saw. Each commit replaces ten documents with ones of a new round, so every state has ten of one round.
 */

import { openIndex } from 'kumo/search'

const [folder = ''] = process.argv.slice(2)
const index = await openIndex(folder)
process.stdout.write('open\n')
const rounds = new Set<string>()
for (let isDone = false; !isDone; ) {
  const { hits, total } = await index.search('common', { limit: 20, facets: ['round'] })
  const found = [...new Set(hits.map(({ fields }) => String(fields.round)))]
  if (total !== 10 || hits.length !== 10 || found.length !== 1)
    throw new Error(`a search saw ${total} documents of the rounds ${found.join(', ')}`)
  rounds.add(found[0]!)
  isDone = found[0] === 'last'
  await new Promise((done) => setImmediate(done))
}
await index.verify()
await index.close()
process.stdout.write(`${rounds.size}\n`)
