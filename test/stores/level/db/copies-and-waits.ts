/** Copies a crawl's folder as `inspect` does, says where, and waits to be killed. */

import { copyOf } from '../../../../src/stores/level/db/copy.js'

const { path } = await copyOf(process.argv[2]!)
console.log(path)
setInterval(() => {}, 60_000)
