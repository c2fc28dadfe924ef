/**
 * Options for identity and access: headers, credentials, cookies, proxy, TLS. They are validated once, when the fetcher
 * is created. Messages never repeat a value that may contain a password or a key.
 */

import { invalidOption, optionError } from '../../../errors.js'
import { LINE_TEXT } from '../headers.js'
import { type ProxyOption, parseProxy } from '../proxy.js'
import type { Credentials, HostAccess } from './headers.js'

export type { Credentials, HostAccess }

/** Certificates as text (PEM) or bytes. */
export type Certificates = string | Uint8Array | readonly (string | Uint8Array)[]

/** As in `node:tls`. */
export interface TlsOptions {
  /**
   * Trusted certificate authorities, instead of those of Node.js; to keep those as well, pass
   * `[...rootCertificates, yours]` with `rootCertificates` from `node:tls`.
   */
  readonly ca?: Certificates | undefined
  /** The client certificate, with its key. It is sent to every server that requests one. */
  readonly cert?: Certificates | undefined
  /** The private key of `cert`. */
  readonly key?: Certificates | undefined
  /** False accepts any certificate, so that servers are not authenticated. Default true. */
  readonly rejectUnauthorized?: boolean | undefined
}

/** How the crawler identifies itself and reaches servers. */
export interface AccessOptions {
  /** The `From` header: an e-mail address of the operator. */
  readonly from?: string | undefined
  /** Additional headers for an origin (`https://example.com`). Called once per origin; sent to no other. */
  readonly headersFor?: ((origin: string) => Readonly<Record<string, string>> | undefined) | undefined
  /** Basic authentication by origin; sent with every request to that origin, and to no other. */
  readonly auth?: Readonly<Record<string, Credentials>> | undefined
  /** Origins that are reached in another way than all others; undefined for the rest. */
  readonly hosts?: ((origin: string) => HostAccess | undefined) | undefined
  /** Keeps cookies and sends them back, with a separate jar for each host. Default false. */
  readonly cookies?: boolean | undefined
  /**
   * An http or https proxy, or a function that returns the proxy for a URL (undefined: none). Credentials go into its
   * URL. The proxy resolves names, so the address guard only sees literal addresses.
   */
  readonly proxy?: ProxyOption | undefined
  /** Uses HTTP/2 with servers that offer it, one request at a time per connection. Default false. */
  readonly http2?: boolean | undefined
  /** Which certificates to trust and to show. Default: those that Node trusts, and none. */
  readonly tls?: TlsOptions | undefined
}

/** Control characters end a header line, and RFC 7617 has no way to write them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
export const CONTROL = /[\x00-\x1f\x7f]/

/** `name` is the full name of the option in messages. */
type Check = (value: unknown, name: string) => void

const CHECKS: { readonly [Key in keyof AccessOptions]-?: Check } = {
  from(value, name) {
    const fits = typeof value === 'string' && /^\S.*@.*\S$/.test(value) && LINE_TEXT.test(value)
    if (!fits) throw invalidOption(name, value, "an e-mail address such as 'bot@example.com'")
  },
  headersFor(value, name) {
    if (typeof value !== 'function') throw optionError(name, typeof value, 'a function of the origin')
  },
  hosts(value, name) {
    if (typeof value !== 'function') throw optionError(name, typeof value, 'a function of the origin')
  },
  auth(value, name) {
    if (!isRecord(value)) throw optionError(name, typeof value, '{ [origin]: { username, password } }')
    for (const [origin, credentials] of Object.entries(value)) {
      checkCredentials(origin, credentials, `${name}[${JSON.stringify(hideCredentials(origin))}]`)
    }
  },
  cookies: checkBoolean,
  proxy(value, name) {
    if (typeof value !== 'function') parseProxy(value, name)
  },
  http2: checkBoolean,
  tls(value, name) {
    if (!isRecord(value)) throw optionError(name, typeof value, '{ ca, cert, key, rejectUnauthorized }')
    for (const [key, each] of Object.entries(value)) checkTls(key, each, name)
    const { cert, key } = value
    if ((cert === undefined) !== (key === undefined)) {
      throw optionError(name, cert === undefined ? 'key alone' : 'cert alone', 'cert and key together')
    }
  },
}

/** The names of these options. */
export const ACCESS_KEYS: readonly string[] = Object.keys(CHECKS)

/**
 * Checks the options that are present. `prefix` precedes their names in messages.
 *
 * @throws KumoError `KUMO_INVALID_OPTION`, naming the option.
 */
export function checkAccess(options: AccessOptions, prefix: string): void {
  for (const [key, check] of Object.entries(CHECKS)) {
    const value = options[key as keyof AccessOptions]
    if (value !== undefined) check(value, `${prefix}${key}`)
  }
}

function checkCredentials(origin: string, credentials: unknown, name: string): void {
  const url = URL.canParse(origin) ? new URL(origin) : undefined
  const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
  if (!isOrigin) throw optionError(name, 'something else', "an origin such as 'https://example.com'")
  const { username, password } = isRecord(credentials) ? credentials : {}
  if (typeof username !== 'string' || username.includes(':') || CONTROL.test(username)) {
    throw optionError(`${name}.username`, typeof username, 'a text without colons and control characters')
  }
  if (typeof password !== 'string' || CONTROL.test(password)) {
    throw optionError(`${name}.password`, typeof password, 'a text without control characters')
  }
}

function checkTls(key: string, value: unknown, name: string): void {
  if (value === undefined) return
  if (key === 'rejectUnauthorized') {
    checkBoolean(value, `${name}.${key}`)
    return
  }
  if (key !== 'ca' && key !== 'cert' && key !== 'key') {
    throw invalidOption(name, key, 'the keys ca, cert, key, rejectUnauthorized')
  }
  const parts = Array.isArray(value) ? value : [value]
  if (!parts.every(isPem)) {
    throw optionError(`${name}.${key}`, 'something other than PEM', 'PEM as text or bytes, or a list of them')
  }
}

/** node:tls accepts anything as an authority, and then trusts no certificate. */
function isPem(part: unknown): boolean {
  if (part instanceof Uint8Array) return isPem(Buffer.from(part).toString('latin1'))
  return typeof part === 'string' && part.includes('-----BEGIN ')
}

function checkBoolean(value: unknown, name: string): void {
  if (typeof value !== 'boolean') throw invalidOption(name, value, 'true or false')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Credentials in an origin must not appear in a log. */
function hideCredentials(origin: string): string {
  return origin.replace(/\/\/[^/]*@/, '//…@')
}
