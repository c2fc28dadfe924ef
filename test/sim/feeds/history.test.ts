import { describe, expect, test } from 'vitest'
import { feedHistory } from '../../../src/sim/feeds/history.js'

describe('a history in CSV', () => {
  test('with a header, quotes, windows, and a feed that never posted', () => {
    const world = feedHistory(
      [
        'title,published,url,window',
        '"A, and ""B""",2024-05-02T00:00:00Z,https://a.example/feed,7',
        'C,"Wed, 01 May 2024 00:00:00 GMT",https://a.example/feed,7',
        ',,https://b.example/feed,',
      ].join('\r\n'),
      { window: 4 },
    )
    expect(world).toEqual({
      days: 2,
      feeds: [
        { host: 'a.example', window: 7, posts: Float64Array.of(0, 1) },
        { host: 'b.example', window: 4, posts: new Float64Array() },
      ],
    })
  })

  test('without a header, in ms, with semicolons', () => {
    const { feeds } = feedHistory('one;1714521600000\ntwo;1714564800000\n')
    expect(feeds.map(({ host, window, posts }) => [host, window, [...posts]])).toEqual([
      ['one', 10, [0]],
      ['two', 10, [0.5]],
    ])
  })

  test.each([
    ['nothing', '', /has no article/],
    ['a header only', 'feed,time\n', /has no article/],
    ['a date that is none', 'a,2024-05-01\nb,yesterday\n', /line 2 of the history: got 'b,yesterday'/],
    ['no feed', ',2024-05-01\n', /line 1/],
    ['a window of 0', 'feed,time,window\na,2024-05-01,0\n', /line 2/],
    ['dates that are 2,000 years apart', 'a,0024-05-01\nb,2024-05-01\n', /spans .* days|line 1/],
  ])('%s is refused', (_, csv, message) => {
    expect(() => feedHistory(csv)).toThrow(message)
  })
})
