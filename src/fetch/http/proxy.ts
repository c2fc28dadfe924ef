/**
 * Connections through a proxy, on undici's `ProxyAgent`: https pages through a tunnel, http pages requested from the
 * proxy itself, as browsers do and common proxies expect. Every connection has its own agent with at most one socket, so
 * that the connection limits also hold behind a proxy.
 */

import { isIP } from 'node:net'
import type { buildConnector, Client, Dispatcher } from 'undici'
import { messageOf, optionError } from '../../errors.js'
import { originOf } from '../../url/canonicalize.js'
import { AccessRefused, ProxyError } from './access/failures.js'
import { basic } from './access/headers.js'
import { type OriginClientOptions, originClient, type SocketListener } from './undici/origin-client.js'

/** A proxy's URL, or a function that returns the proxy for a URL (undefined: a direct connection). */
export type ProxyOption = string | URL | ((url: string) => string | URL | undefined)

/** A validated proxy. Connections are compared by this object, so a proxy keeps the same one while it is cached. */
export interface ProxyServer {
  /** Without credentials. */
  readonly origin: string
  /** For messages: host and port. */
  readonly name: string
  /** The value of `Proxy-Authorization`. */
  readonly token: string | undefined
}

/** Services with a user name per session have thousands of proxies; evicting one costs a connection. */
const MAX_PROXIES = 1000

const ALLOWED = "an http or https URL such as 'http://user:password@proxy.example:3128'"

/** @throws KumoError `KUMO_INVALID_OPTION`, without repeating the credentials. */
export function parseProxy(value: unknown, option = 'httpFetcher.proxy'): ProxyServer {
  const invalid = (description: string) => optionError(option, description, ALLOWED)
  const text = String(value)
  if (!URL.canParse(text)) throw invalid('what is not a URL')
  const { protocol, origin, host, pathname, search, username, password } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') throw invalid(`a URL with ${protocol}`)
  if (pathname !== '/' || search !== '') throw invalid('a URL with a path')
  try {
    const credentials = { username: decodeURIComponent(username), password: decodeURIComponent(password) }
    return { origin, name: host, token: username === '' ? undefined : basic(credentials) }
  } catch {
    throw invalid('credentials with a % that is no escape; write it as %25')
  }
}

/**
 * The function that returns the proxy for a URL.
 *
 * @throws KumoError `KUMO_INVALID_OPTION`. What it returns throws `AccessRefused` if the user's function fails.
 */
export function proxyChooser(option: ProxyOption): (url: string) => ProxyServer | undefined {
  if (typeof option !== 'function') {
    const proxy = parseProxy(option)
    return () => proxy
  }
  const known = new Map<string, ProxyServer>()
  return (url) => {
    try {
      const chosen = option(url)
      if (chosen === undefined) return undefined
      const text = String(chosen)
      let proxy = known.get(text)
      if (proxy === undefined) {
        proxy = parseProxy(text)
        if (known.size >= MAX_PROXIES) known.clear()
        known.set(text, proxy)
      }
      return proxy
    } catch (error) {
      const what = `was not fetched, because the function for the proxy failed: ${messageOf(error)}`
      throw new AccessRefused({ code: 'proxy-failed', what }, error)
    }
  }
}

/** Chooses the proxies of hosts that have their own, and `otherwise` those of all others. */
export function withHostProxies(
  hosts: (origin: string) => { readonly proxy?: string | false | undefined } | undefined,
  otherwise: ((url: string) => ProxyServer | undefined) | undefined,
): (url: string) => ProxyServer | undefined {
  const known = new Map<string, ProxyServer>()
  return (url) => {
    const own = hosts(originOf(url))?.proxy
    if (own === undefined) return otherwise?.(url)
    if (own === false) return undefined
    const proxy = known.get(own) ?? parseProxy(own)
    known.set(own, proxy)
    return proxy
  }
}

/** The address of an origin that needs no DNS lookup: an IP address, or that of `localhost`. */
export function literalAddress(origin: string): { hostname: string; address: string } | undefined {
  const hostname = new URL(origin).hostname.replace(/^\[|\]$/g, '')
  if (isIP(hostname) !== 0) return { hostname, address: hostname }
  return /(?:^|\.)localhost\.?$/.test(hostname) ? { hostname, address: '127.0.0.1' } : undefined
}

/** The parts of a proxied connection. */
export interface ProxiedOptions {
  readonly proxy: ProxyServer
  /** Opens the socket to the proxy. */
  readonly connect: buildConnector.connector
  /** TLS to the servers behind the proxy. */
  readonly tls: buildConnector.BuildOptions
  /** For the client that talks to the server. */
  readonly client: OriginClientOptions
  /** How long the proxy may take to open a tunnel. */
  readonly connectTimeoutMs: number
  readonly listener: SocketListener
}

/** A dispatcher with at most one socket, to the proxy, for requests to one origin. */
export function proxiedClient(
  undici: Pick<typeof import('undici'), 'Client' | 'ProxyAgent'>,
  { proxy, connect, tls, client, connectTimeoutMs, listener }: ProxiedOptions,
): Dispatcher {
  const toProxy: buildConnector.connector = ({ servername = '', ...options }, callback) =>
    // undici sets a server name even if it is an address, which TLS does not allow and Node warns about.
    connect(isIP(servername) === 0 ? { ...options, servername } : options, (error, socket) => {
      if (error === null) callback(null, socket!)
      else callback(unreachable(proxy, error), null)
    })
  return new undici.ProxyAgent({
    uri: proxy.origin,
    ...(proxy.token === undefined ? {} : { token: proxy.token }),
    // undici 7 tunnels to an https proxy in any case; undici 8 must be asked to.
    proxyTunnel: proxy.origin.startsWith('https:'),
    requestTls: tls,
    clientFactory: (origin) =>
      tunnelling(
        proxy,
        new undici.Client(origin, {
          connect: toProxy,
          headersTimeout: wholeMs(connectTimeoutMs),
          bodyTimeout: 0,
        }),
      ),
    // Called for the server with a connector that opens a tunnel, or for the proxy with one that ignores our limits.
    factory: (origin, options) => {
      const asksProxy = new URL(origin).origin === proxy.origin
      if (asksProxy)
        return originClient(undici, String(origin), toProxy, { ...client, allowH2: false }, listener)
      const tunnel = (options as Client.Options).connect as buildConnector.connector
      return originClient(undici, String(origin), tunnel, client, listener)
    },
  })
}

/**
 * Errors before the tunnel is open are the proxy's, later ones the server's; only here can they be told apart. undici
 * would also reconnect for ever if the proxy closes the connection, because it assumes a stale kept-alive connection.
 */
function tunnelling(proxy: ProxyServer, client: Client): Client {
  const open = client.connect.bind(client) as (
    options: Dispatcher.ConnectOptions,
  ) => Promise<Dispatcher.ConnectData>
  const connect = async (options: Dispatcher.ConnectOptions) => {
    const tunnel = await open(options).catch((error) => {
      throw error instanceof ProxyError ? error : unreachable(proxy, error)
    })
    if (tunnel.statusCode === 200) return tunnel
    tunnel.socket.on('error', () => {}).destroy()
    throw new ProxyError(`the proxy ${proxy.name} refused with status ${tunnel.statusCode}`)
  }
  return Object.assign(client, { connect })
}

function unreachable(proxy: ProxyServer, error: Error): ProxyError {
  return new ProxyError(`the proxy ${proxy.name} could not be reached (${reasonOf(error)})`, {
    cause: error,
  })
}

function reasonOf(error: Error & { code?: unknown }): string {
  return typeof error.code === 'string' ? error.code : error.message
}

/** undici accepts whole numbers, and 0 for no limit. */
function wholeMs(ms: number): number {
  return Number.isFinite(ms) ? Math.ceil(ms) : 0
}
