/**
 * Indexes documents in an endless loop and says which commits are done; the test kills it. Run as
 * `killed-program FOLDER SEED`.
 */

import { openWriter } from 'kumo/search'

const [folder = '', seed = '0'] = process.argv.slice(2)
const writer = await openWriter(folder, { sync: false })
// Every round replaces some documents and deletes others: round r leaves document d with the text `round-r`.
for (let round = Number(seed); ; round++) {
  for (let document = 0; document < 60; document++) {
    const url = `https://example.com/${document}`
    if ((document + round) % 7 === 0) await writer.delete(url)
    else {
      const sections = Array.from({ length: 3 }, (_, at) => ({
        anchor: `s${at}`,
        text: `common round${round} part${at}`,
      }))
      await writer.put({ url, title: `Document ${document}`, sections })
    }
    if (document % 20 === 19) {
      await writer.commit()
      process.stdout.write(`${round} ${document}\n`)
    }
  }
}
