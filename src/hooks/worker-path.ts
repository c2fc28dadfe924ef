/** Paths of hooks that run in worker threads: each worker needs a file or folder of its own. */

const PLACE = '{worker}'

/** The path for a worker: `{worker}` is replaced by its number, which is 0 without workers. */
export function pathOfWorker(path: string, worker: number): string {
  return path.replaceAll(PLACE, String(worker))
}
