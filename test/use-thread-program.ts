/** Before each file of tests: crawls with workers run what thread-program.ts has built. */

import { pathToFileURL } from 'node:url'
import { threadProgram } from '../src/run/threads/program.js'
import { THREAD_PROGRAM } from './thread-program-place.js'

threadProgram.url = pathToFileURL(THREAD_PROGRAM)
