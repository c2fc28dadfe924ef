import * as undici from 'undici'
import { expect, test } from 'vitest'
import { loadUndici } from '../../../../src/fetch/http/undici/load.js'

test('the parts are those that undici exports', () => {
  const { Client, buildConnector, ProxyAgent } = loadUndici()
  expect(Client).toBe(undici.Client)
  expect(buildConnector).toBe(undici.buildConnector)
  expect(ProxyAgent).toBe(undici.ProxyAgent)
})
