/**
 * Seeds from a database, a chunk a day. Each run takes the next rows, and the crawl in the folder goes on with them and
 * with what was left. A row whose URL is known already, by an earlier row or by a link, is not fetched again.
 *
 * The table here is a file with a row of JSON a line, {"id":1,"url":"https://example.com/"}, ordered by id.
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

/** Whoever asks for the next seed has taken in the one before, so the cursor moves then and not earlier. */
async function* chunk(): AsyncGenerator<string> {
  for await (const { id, url } of rows(first, rowsPerDay)) {
    yield url
    cursor = id
  }
}

const { pages, known, reason } = await new Crawler()
  .seeds(chunk())
  .limit({ time: '20h' }) // of this run; what is left is pending tomorrow
  .store(level(folder))
  .on('page', ({ url }) => console.log(url))
  .run()

// The store is closed and holds them. If the program is killed before this line, the next run reads the same rows.
writeFileSync(cursorFile, String(cursor))
console.log(`rows ${first + 1} to ${cursor}: ${reason}; ${pages} pages and ${known} URLs so far`)
