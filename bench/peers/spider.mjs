/** spider-rs, a crawler in Rust: concurrency, which it chooses itself, and seeds are its arguments. */

import { Website } from '@spider-rs/spider-rs'

const [, ...seeds] = process.argv.slice(2)
await Promise.all(seeds.map((seed) => new Website(seed).crawl()))
