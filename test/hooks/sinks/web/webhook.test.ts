import { verifyWebhook, webhook } from 'kumo/sinks'
import { describe, expect, test } from 'vitest'
import { pageNumber, writeAll } from '../support.js'
import { answering } from './doubles.js'

describe('webhook', () => {
  test('sends batches with a signature that the receiver can check', async () => {
    const { url, asked } = await answering(() => ({ status: 204 }))
    const hook = webhook(`${url}/in?token=1`, {
      secret: 'shared',
      headers: { 'X-From': 'kumo' },
      batch: { pages: 2 },
      record: ({ url, title }) => ({ url, title }),
    })
    await writeAll(hook, [pageNumber(1), pageNumber(2), pageNumber(3)])
    expect(asked.map(({ method, path, type, body }) => [method, path, type, JSON.parse(body)])).toEqual([
      [
        'POST',
        '/in?token=1',
        'application/json',
        {
          pages: [
            { url: 'https://example.com/1', title: 'Page 1' },
            { url: 'https://example.com/2', title: 'Page 2' },
          ],
        },
      ],
      [
        'POST',
        '/in?token=1',
        'application/json',
        { pages: [{ url: 'https://example.com/3', title: 'Page 3' }] },
      ],
    ])
    const [first] = asked
    expect(first?.headers['x-from']).toBe('kumo')
    const signature = first?.headers['kumo-signature']
    const now = Date.now()
    expect(verifyWebhook(first!.body, signature, 'shared', now)).toBe(true)
    expect(verifyWebhook(Buffer.from(first!.body), signature, 'shared', now)).toBe(true)
    expect(verifyWebhook(`${first!.body} `, signature, 'shared', now)).toBe(false)
    expect(verifyWebhook(first!.body, signature, 'other', now)).toBe(false)
    expect(verifyWebhook(first!.body, signature, 'shared', now + 600_000)).toBe(false)
    for (const wrong of [undefined, '', 't=1', `t=${now},v1=zz`, ['a']])
      expect(verifyWebhook(first!.body, wrong, 'shared', now)).toBe(false)
  })

  test('a batch that is sent again has the same name', async () => {
    const { url, asked } = await answering((_, count) => ({ status: count < 3 ? 503 : 200 }))
    const hook = webhook(url, { retry: { first: 1 } })
    await writeAll(hook, [pageNumber(1)])
    expect(asked).toHaveLength(3)
    expect(new Set(asked.map(({ headers }) => headers['kumo-delivery'])).size).toBe(1)
    expect(hook.stats()).toMatchObject({ written: 1, retries: 2 })
  })

  test('422 is a dead letter at once; a redirect is not followed', async () => {
    const { url, asked } = await answering((_, count) =>
      count === 1
        ? { status: 422, body: { why: 'no' } }
        : { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
    )
    const reasons: string[] = []
    const hook = webhook(url, {
      batch: { pages: 1 },
      retry: { attempts: 1 },
      dead: { report: ({ reason }) => reasons.push(reason) },
    })
    await writeAll(hook, [pageNumber(1), pageNumber(2)])
    expect(reasons).toEqual(['status 422: {"why":"no"}', `webhook: ${url}/: status 302`])
    expect(asked).toHaveLength(2)
  })

  test('a server that is not there is a dead letter that says why', async () => {
    const reasons: string[] = []
    const hook = webhook('http://user:secret@127.0.0.1:1/x', {
      retry: { attempts: 1 },
      dead: { report: ({ reason }) => reasons.push(reason) },
    })
    await writeAll(hook, [pageNumber(1)])
    expect(reasons).toEqual([
      expect.stringMatching(/^webhook: http:\/\/127\.0\.0\.1:1\/x: (connect ECONNREFUSED|bad port)/),
    ])
  })
})
