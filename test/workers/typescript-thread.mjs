/** Starts a TypeScript program, whose URL is its argument, as a thread: `--import tsx` does not reach threads of Node.js 20. */

import { register } from 'tsx/esm/api'

register()
await import(process.argv[2])
