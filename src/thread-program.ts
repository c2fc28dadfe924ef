/** Whether this is the source itself, run by a loader. A thread cannot run that, so it runs what was built from it. */
const isSource = import.meta.url.endsWith('.ts')

/** The program of a worker thread. Tests put another in its place. */
export const threadProgram = { url: new URL(isSource ? '../dist/thread.js' : './thread.js', import.meta.url) }
