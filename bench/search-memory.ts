/** Memory of a process that indexes many documents. Run as `search-memory.ts FOLDER COUNT`; prints MB. */

import { openIndex, openWriter } from '../src/search/index.js'
import { seededRandom } from '../src/time.js'
import { siteDocuments } from './search-corpus.js'

const [folder = '', count = '0'] = process.argv.slice(2)
const random = seededRandom(1)
const sentences = siteDocuments('sqlite', '', 300)
  .flatMap(({ sections }) => sections.flatMap(({ text }) => text.split('\n')))
  .filter(({ length }) => length > 20 && length < 400)
const pick = () => sentences[Math.floor(random.next() * sentences.length)]!
const writer = await openWriter(folder, { sync: false })
let most = 0
for (let at = 0; at < Number(count); at++) {
  const text = `${pick()} ${pick()} ${pick()} unique${at}`
  await writer.put({ url: `https://host${at % 97}.example/${at}`, title: pick().slice(0, 60), text })
  if (at % 200 === 199) await writer.commit()
  if (at % 1000 === 0) most = Math.max(most, process.memoryUsage.rss())
}
await writer.close()
const index = await openIndex(folder)
for (let at = 0; at < 50; at++) await index.search(pick().split(' ').slice(0, 2).join(' '))
most = Math.max(most, process.memoryUsage.rss())
const { documents } = await index.stats()
await index.close()
if (documents !== Number(count)) throw new Error(`${documents} documents`)
console.log(Math.round(most / 2 ** 20))
