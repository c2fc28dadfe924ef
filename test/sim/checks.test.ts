import { describe, expect, it } from 'vitest'
import { checkRun, type FetchRecord, type FindingKind, type RunRecord } from '../../src/sim/index.js'

/** One fetch on host `a.test`, its path given, as `[path, start, end, attempt, result]`. */
type Row = [path: string, start: number, end: number, attempt?: number, result?: FetchRecord['result']]

function run(rows: readonly Row[], more: Partial<RunRecord> = {}): RunRecord {
  const log = rows.map(([path, startedAt, endedAt, attempt = 0, result = 'final']) => ({
    url: `https://a.test${path}`,
    host: 'a.test',
    attempt,
    startedAt,
    endedAt,
    result,
  }))
  return {
    log,
    delivered: [],
    expected: new Set(),
    complete: false,
    concurrency: 10,
    delayMs: 100,
    connections: 1,
    retries: 2,
    robots: false,
    allows: () => true,
    crawlDelayMs: () => 0,
    ...more,
  }
}

const PAGE = 'https://a.test/1'
const TWO_CONNECTIONS = { connections: 2 }
const ROBOTS = { robots: true, crawlDelayMs: () => 300 }

const SOUND: [name: string, run: RunRecord][] = [
  ['no fetch at all', run([])],
  [
    'visits a pause apart',
    run([
      ['/1', 0, 10],
      ['/2', 110, 120],
    ]),
  ],
  [
    'two connections, each with its pause',
    run(
      [
        ['/1', 0, 50],
        ['/2', 1, 9],
        ['/3', 109, 120],
      ],
      TWO_CONNECTIONS,
    ),
  ],
  [
    'a retry',
    run(
      [
        ['/1', 0, 10, 0, 'trouble'],
        ['/1', 510, 520, 1],
      ],
      { backoffMs: 500 },
    ),
  ],
  [
    'an aborted fetch, begun again',
    run([
      ['/1', 0, 10, 0, 'aborted'],
      ['/1', 110, 120, 0],
    ]),
  ],
  [
    'a first failure after an answer, which waits as for the first',
    run(
      [
        ['/1', 0, 10, 0, 'trouble'],
        ['/2', 510, 520],
        ['/1', 620, 630, 1, 'trouble'],
        ['/3', 1130, 1140],
      ],
      { backoffMs: 500 },
    ),
  ],
  [
    'rules, then a page after the Crawl-delay',
    run(
      [
        ['/robots.txt', 0, 10],
        ['/1', 310, 320],
      ],
      ROBOTS,
    ),
  ],
  [
    'rules that came at the second try',
    run(
      [
        ['/robots.txt', 0, 10, 0, 'trouble'],
        ['/robots.txt', 110, 120],
        ['/1', 420, 430],
      ],
      ROBOTS,
    ),
  ],
  ['a complete delivery', run([], { delivered: [PAGE], expected: new Set([PAGE]), complete: true })],
  ['an incomplete one that was cut short', run([], { expected: new Set([PAGE]) })],
  [
    'fetches at the edges of a quiet time',
    run(
      [
        ['/1', 0, 10],
        ['/2', 500, 510],
      ],
      { quiet: [[0, 500]] },
    ),
  ],
]

const UNSOUND: [kind: FindingKind, name: string, run: RunRecord][] = [
  [
    'interval',
    'a pause 1 ms short',
    run([
      ['/1', 0, 10],
      ['/2', 109, 120],
    ]),
  ],
  [
    'interval',
    'a third visit before either pause is over',
    run(
      [
        ['/1', 0, 10],
        ['/2', 1, 9],
        ['/3', 108, 120],
      ],
      TWO_CONNECTIONS,
    ),
  ],
  [
    'interval',
    'a pause shorter than the Crawl-delay',
    run(
      [
        ['/robots.txt', 0, 10],
        ['/1', 309, 320],
      ],
      ROBOTS,
    ),
  ],
  [
    'overlap',
    'two visits at once',
    run([
      ['/1', 0, 10],
      ['/2', 9, 20],
    ]),
  ],
  [
    'overlap',
    'three visits on two connections',
    run(
      [
        ['/1', 0, 10],
        ['/2', 1, 20],
        ['/3', 2, 20],
      ],
      TWO_CONNECTIONS,
    ),
  ],
  [
    'too-many-in-flight',
    'two with a concurrency of one',
    run(
      [
        ['/1', 0, 10],
        ['/2', 1, 20],
      ],
      { ...TWO_CONNECTIONS, concurrency: 1 },
    ),
  ],
  [
    'backoff',
    'a host asked too soon after trouble',
    run(
      [
        ['/1', 0, 10, 0, 'trouble'],
        ['/2', 509, 520],
      ],
      { backoffMs: 500 },
    ),
  ],
  [
    'backoff',
    'a second trouble that waits no longer than the first',
    run(
      [
        ['/1', 0, 10, 0, 'trouble'],
        ['/2', 510, 520, 0, 'trouble'],
        ['/1', 1519, 1530, 1],
      ],
      { backoffMs: 500 },
    ),
  ],
  [
    'fetched-again',
    'a page after its answer',
    run([
      ['/1', 0, 10],
      ['/1', 110, 120],
    ]),
  ],
  [
    'fetched-again',
    'an attempt that does not count up',
    run([
      ['/1', 0, 10, 0, 'trouble'],
      ['/1', 1110, 1120, 0],
    ]),
  ],
  ['too-many-tries', 'a fourth try', run([['/1', 0, 10, 3]])],
  ['delivered-twice', 'a page twice', run([], { delivered: [PAGE, PAGE], expected: new Set([PAGE]) })],
  ['missing', 'a page that did not come', run([], { expected: new Set([PAGE]), complete: true })],
  ['unexpected', 'a page that is nowhere', run([], { delivered: [PAGE] })],
  [
    'robots-ignored',
    'a closed page',
    run(
      [
        ['/robots.txt', 0, 10],
        ['/1', 310, 320],
      ],
      { ...ROBOTS, allows: () => false },
    ),
  ],
  ['robots-late', 'a page without rules', run([['/1', 0, 10]], ROBOTS)],
  [
    'robots-late',
    'a page while the rules are on their way',
    run(
      [
        ['/robots.txt', 0, 10],
        ['/1', 5, 20],
      ],
      { ...ROBOTS, ...TWO_CONNECTIONS },
    ),
  ],
  [
    'robots-late',
    'a page after rules that could not be had',
    run(
      [
        ['/robots.txt', 0, 10, 0, 'trouble'],
        ['/1', 310, 320],
      ],
      ROBOTS,
    ),
  ],
  [
    'not-quiet',
    'a start in a quiet time',
    run([['/1', 200, 210]], { quiet: [[100, Number.POSITIVE_INFINITY]] }),
  ],
  ['left-behind', 'a fetch without an end', run([['/1', 0, Number.POSITIVE_INFINITY, 0, 'pending']])],
]

describe('checkRun', () => {
  it.for(SOUND)('has nothing against %s', ([, record]) => {
    expect(checkRun(record)).toEqual([])
  })

  it.for(UNSOUND)('reports %s: %s', ([kind, , record]) => {
    expect(checkRun(record).map((finding) => finding.kind)).toEqual([kind])
  })
})
