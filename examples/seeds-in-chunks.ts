/**
 * Seeds from a database, a chunk per day. Each run adds the next rows to the crawl in the folder, which also continues
 * with its pending URLs. A URL that is already known, from an earlier row or a link, is not fetched again.
 *
 * Here the table is a JSON Lines file, {"id":1,"url":"https://example.com/"}, ordered by id.
 *
 *     npx tsx examples/seeds-in-chunks.ts seeds.jsonl ./crawl 1000
 */

import { createReadStream, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Crawler, level } from 'kumo'

const table = process.argv[2] ?? 'seeds.jsonl'
const folder = process.argv[3] ?? './crawl'
const rowsPerDay = Number(process.argv[4] ?? 1000)

interface Row {
  readonly id: number
  readonly url: string
}

/** In a database: SELECT id, url FROM seeds WHERE id > after ORDER BY id LIMIT most */
async function* rows(after: number, most: number): AsyncGenerator<Row> {
  let read = 0
  for await (const line of createInterface({ input: createReadStream(table) })) {
    if (read === most) return
    const row = JSON.parse(line) as Row
    if (row.id <= after) continue
    read++
    yield row
  }
}

const cursorFile = `${table}.cursor`
const first = existsSync(cursorFile) ? Number(readFileSync(cursorFile, 'utf8')) : 0
let cursor = first

/** The crawl requests a seed only after it has accepted the one before, so the cursor moves then and not earlier. */
async function* chunk(): AsyncGenerator<string> {
  for await (const { id, url } of rows(first, rowsPerDay)) {
    yield url
    cursor = id
  }
}

const { pages, known, reason } = await new Crawler()
  .seeds(chunk())
  .limit({ time: '20h' }) // per run; the rest stays pending until tomorrow
  .store(level(folder))
  .on('page', ({ url }) => console.log(url))
  .run()

// The store is closed and has the seeds. If the program is killed before this line, the next run reads the same rows.
writeFileSync(cursorFile, String(cursor))
console.log(`rows ${first + 1} to ${cursor}: ${reason}; ${pages} pages and ${known} URLs so far`)
