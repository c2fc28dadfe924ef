import { meilisearch } from 'kumo/sinks'
import { describe, expect, test } from 'vitest'
import { pageNumber, writeAll } from '../support.js'
import { meilisearchDouble } from './doubles.js'

describe('meilisearch', () => {
  test('waits for the tasks: documents are added, changed in part and deleted', async () => {
    const { url, documents } = await meilisearchDouble()
    const sink = () => meilisearch(url, { key: 'key' })
    await writeAll(sink(), [pageNumber(1), pageNumber(2), pageNumber(3)])
    expect(documents.size).toBe(3)
    await writeAll(sink(), [
      pageNumber(1, { change: 'unchanged' }),
      pageNumber(2, { change: 'gone' }),
      pageNumber(3, { change: 'changed', title: 'New' }),
    ])
    expect([...documents.values()]).toMatchObject([
      { url: 'https://example.com/1', title: 'Page 1', status: 304, change: 'unchanged' },
      { url: 'https://example.com/3', title: 'New' },
    ])
  })

  test('a task that fails because of its documents makes dead letters; any other is repeated', async () => {
    let failures = 2
    const { url, documents } = await meilisearchDouble({
      looks: 0,
      refuse: ({ title }) => (title === 'Bad' ? 'document too large' : failures-- > 0 ? 'disk' : undefined),
    })
    const reasons: string[] = []
    const hook = meilisearch(url, {
      key: 'key',
      batch: { pages: 1 },
      retry: { first: 1 },
      dead: { report: ({ reason }) => reasons.push(reason) },
    })
    await writeAll(hook, [pageNumber(1), pageNumber(2, { title: 'Bad' })])
    expect(reasons).toEqual(['task 3 failed: document too large'])
    expect(hook.stats()).toMatchObject({ written: 1, retries: 2, dead: 1 })
    expect(documents.size).toBe(1)
  })

  test('a wrong key is repeated, and says so in the dead letter without showing itself', async () => {
    const { url } = await meilisearchDouble()
    const reasons: string[] = []
    const hook = meilisearch(url, {
      key: 'wrong-key',
      retry: { attempts: 2, first: 1 },
      dead: { report: ({ reason }) => reasons.push(reason) },
    })
    await writeAll(hook, [pageNumber(1)])
    expect(reasons).toEqual([`meilisearch: ${url}/: status 401: {"code":"missing_authorization_header"}`])
  })
})
