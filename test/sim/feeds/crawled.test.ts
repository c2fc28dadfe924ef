import { expect, test } from 'vitest'
import { PollSchedule } from '../../../src/feeds/schedule/poll-schedule.js'
import { pollRules } from '../../../src/feeds/schedule/rules.js'
import { feedsOf } from '../../../src/sim/feeds/crawled.js'

test('feeds of a crawl go on as they were', async () => {
  const schedule = new PollSchedule(pollRules(), { visitIntervalMs: 1000 })
  const published = Array.from({ length: 20 }, (_, at) => 1.7e12 - at * 43_200_000)
  const { record } = schedule.polled('a.example', undefined, {
    at: 1.7e12,
    outcome: 'feed',
    first: true,
    fresh: 20,
    recovered: 0,
    window: 20,
    overlaps: true,
    unbounded: false,
    published,
  })
  const { days, feeds } = await feedsOf([['https://a.example/feed', record]], { days: 50 })
  expect(days).toBe(50)
  expect(feeds[0]).toMatchObject({ host: 'a.example', window: 20 })
  // Two a day, with the doubt that one poll leaves.
  expect(feeds[0]!.posts.length).toBeGreaterThan(50)
  expect(feeds[0]!.posts.length).toBeLessThan(120)
  await expect(feedsOf([], { days: 50 })).rejects.toThrow(/follows no feeds/)
})
