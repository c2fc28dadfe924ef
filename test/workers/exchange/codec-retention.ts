/**
 * Run by codec.test.ts in a process of its own, with --expose-gc: how much memory stays behind when only a few requests
 * of many batches are kept?
 */

import type { CrawlRequest } from '../../../src/types.js'
import { BatchWriter, readBatch } from '../../../src/workers/exchange/codec.js'

const BATCHES = 500
const REQUESTS = 1000
const BYTES_PER_MB = 1e6

/** As it comes from a port: in one piece, and nobody else's. */
function batchNumber(batch: number): string {
  const writer = new BatchWriter()
  for (let i = 0; i < REQUESTS; i++) {
    const host = `www.host-${(batch * REQUESTS + i) >> 3}.example.com`
    writer.add({
      url: `https://${host}/articles/of/some/length/${batch}/${i}.html`,
      host,
      depth: 1,
      priority: 0,
      attempt: 0,
      redirects: 0,
      parent: `https://www.example.com/a/page/of/some/length/${batch}/${i >> 5}`,
    })
  }
  return Buffer.from(writer.take(), 'latin1').toString('latin1')
}

// A compiled function may behave unlike an interpreted one: measure when the compiler has had its turn.
for (let round = 0; round < 20; round++) readBatch(batchNumber(round))

const gc = globalThis.gc!
gc()
const before = process.memoryUsage().heapUsed
const kept: CrawlRequest[] = []
let characters = 0
for (let batch = 0; batch < BATCHES; batch++) {
  const text = batchNumber(batch)
  characters += text.length
  const requests = readBatch(text)
  // One that names its host, and one that leaves it out.
  kept.push(requests[0]!, requests[REQUESTS / 2 + 1]!)
}
gc()
const keptMb = (process.memoryUsage().heapUsed - before) / BYTES_PER_MB
if (kept.length !== 2 * BATCHES) throw new Error('requests were lost')
console.log(JSON.stringify({ batchesMb: characters / BYTES_PER_MB, keptMb }))
