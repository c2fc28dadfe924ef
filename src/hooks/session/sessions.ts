import { optionError } from '../../errors.js'
import { hostOf, originOf } from '../../url/canonicalize.js'
import type { OriginSession, SessionGate, SessionParts, SessionSettings } from './contract.js'
import { Login } from './login.js'

/** The sessions of a crawl, one for each origin. */
export class Sessions implements SessionGate {
  readonly #settings = new Map<string, SessionSettings>()
  readonly #parts: SessionParts
  /** By origin. Filled when an origin is first visited, emptied when its host moves away. */
  readonly #logins = new Map<string, Login>()

  /** @throws KumoError `KUMO_INVALID_OPTION` for two sessions of one origin. */
  constructor(settings: readonly SessionSettings[], parts: SessionParts) {
    this.#parts = parts
    for (const each of settings) {
      const origin = originOf(each.login)
      if (this.#settings.has(origin))
        throw optionError('use', `two sessions for ${origin}`, 'one for each origin')
      this.#settings.set(origin, each)
    }
  }

  of(url: string): OriginSession | undefined {
    const origin = originOf(url)
    const settings = this.#settings.get(origin)
    if (settings === undefined) return undefined
    let login = this.#logins.get(origin)
    if (login === undefined) {
      login = new Login(settings, this.#parts)
      this.#logins.set(origin, login)
    }
    return login
  }

  forget(isGone: (host: string) => boolean): void {
    for (const origin of [...this.#logins.keys()]) {
      if (isGone(hostOf(`${origin}/`))) this.#logins.delete(origin)
    }
  }
}
