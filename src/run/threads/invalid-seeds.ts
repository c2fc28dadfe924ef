import type { UnheardReasons } from '../../engine/stats/no-page.js'
import { unvisited } from '../../engine/stats/reporter.js'
import type { Tally } from '../../engine/stats/tally.js'
import type { Closures } from '../../workers/closures/host.js'

/** Reports a seed that is wrong to whoever hears of failures in the program's thread. */
export async function reportInvalidSeed(
  { hooks, listeners }: Closures,
  counts: { readonly own: Tally; readonly unheard: UnheardReasons },
  url: string,
  message: string,
): Promise<void> {
  const failure = unvisited({ url, code: 'invalid-seed', message })
  counts.own.failure('invalid-seed')
  const receivers = [...hooks.map((hook) => hook.failure?.bind(hook)), ...listeners('failure')]
  if (receivers.every((receive) => receive === undefined))
    counts.unheard.note({ url, kind: 'failure', code: 'invalid-seed', message })
  await Promise.allSettled(receivers.map(async (receive) => receive?.(failure)))
}
