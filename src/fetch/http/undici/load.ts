/**
 * Loads the parts of undici that Kumo uses. The whole package, with fetch, WebSocket and caches, takes 55 ms of CPU in
 * every thread; the client and its connector take 15.
 */

import { require } from '../../../require.js'

/** What Kumo uses of undici. */
export type Undici = Pick<typeof import('undici'), 'Client' | 'ProxyAgent' | 'buildConnector'>

const CLIENT = 'undici/lib/dispatcher/client.js'
const CONNECTOR = 'undici/lib/core/connect.js'

/** Undici's files are not part of its public interface: if one is not where it was, the whole package is loaded. */
export function loadUndici(): Undici {
  const client = part<Undici['Client']>(CLIENT)
  const connector = part<Undici['buildConnector']>(CONNECTOR)
  if (client === undefined || connector === undefined) return whole()
  return {
    Client: client,
    buildConnector: connector,
    get ProxyAgent() {
      return whole().ProxyAgent
    },
  }
}

function whole(): Undici {
  return require('undici') as Undici
}

function part<T>(file: string): T | undefined {
  try {
    const loaded = require(file)
    return typeof loaded === 'function' ? (loaded as T) : undefined
  } catch {
    return undefined
  }
}
