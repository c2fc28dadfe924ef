import { fileURLToPath } from 'node:url'

/** Inside node_modules, so that what it imports is found. */
export const THREAD_PROGRAM = fileURLToPath(new URL('../node_modules/.kumo-test/thread.js', import.meta.url))
