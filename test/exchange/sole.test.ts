import { expect, it } from 'vitest'
import { soleExchange } from '../../src/exchange/sole.js'

it('ends a crawl as soon as its only shard is idle', () => {
  expect(soleExchange().rest()).toBe(true)
})

it('refuses to send, because there is no other shard', () => {
  expect(() => soleExchange().send(1, [])).toThrow(
    expect.objectContaining({ name: 'KumoError', code: 'KUMO_CONTRACT_BROKEN' }),
  )
})
