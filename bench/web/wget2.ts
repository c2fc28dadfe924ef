/** wget2, where it is installed: a crawler in C, with a thread for each connection. */

import { execFile, execFileSync } from 'node:child_process'
import { performance } from 'node:perf_hooks'
import { promisify } from 'node:util'
import type { Contestant } from './contest.js'

const ERROR_RESPONSE = 8

export function hasWget2(): boolean {
  try {
    execFileSync('wget2', ['--version'], { stdio: 'pipe' })
    return true
  } catch {
    return false
  }
}

export function wget2(
  seeds: readonly string[],
  threads: number,
  pagesServed: () => Promise<number>,
): Contestant {
  return {
    turns: [],
    close() {},
    async run() {
      const start = performance.now()
      const cpuMs = await crawl([
        '-q',
        '-r',
        '-l',
        '0',
        '-O',
        '/dev/null',
        `--max-threads=${threads}`,
        ...seeds,
      ])
      const seconds = (performance.now() - start) / 1000
      return { pages: await pagesServed(), seconds, cpuMs, rssMb: Number.NaN }
    },
  }
}

/** The shell tells the CPU time of what it has run. */
async function crawl(args: readonly string[]): Promise<number> {
  const script = 'wget2 "$@"; code=$?; times; exit $code'
  const run = promisify(execFile)('bash', ['-c', script, 'wget2', ...args], { maxBuffer: 2 ** 26 })
  const { stdout } = await run.catch((error) => {
    // Some links of every site lead nowhere.
    if (error.code === ERROR_RESPONSE) return error as { stdout: string }
    throw error
  })
  const [, user, system] = /\n(\S+) (\S+)\s*$/.exec(stdout) ?? []
  return milliseconds(user!) + milliseconds(system!)
}

/** `0m1.234s` */
function milliseconds(time: string): number {
  const [, minutes, seconds] = /^(\d+)m([\d.]+)s$/.exec(time)!
  return 60_000 * Number(minutes) + 1000 * Number(seconds)
}
