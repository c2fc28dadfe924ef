import { describe, expect, it } from 'vitest'
import { storeSuite } from '../../src/conformance/store.js'
import { memory } from '../../src/stores/memory.js'
import { systemClock } from '../../src/time.js'

describe('memory', () => {
  storeSuite({ it, create: memory })

  it('opens without a promise, with the policy of the crawl', () => {
    const politeness = { delayMs: 0, connections: 1, growAt: 1 }
    const asked: string[] = []
    const policy = ({ host }: { host: string }) => asked.push(host)
    const opened = memory().open({ politeness, policy, clock: systemClock(), partitions: 1 })
    if (opened instanceof Promise) throw new Error('a promise')
    const url = 'https://a.example/'
    opened.frontier.add([
      { url, host: 'a.example', depth: 0, priority: 0, attempt: 0, redirects: 0, parent: undefined },
    ])
    expect(asked).toEqual(['a.example'])
  })
})
