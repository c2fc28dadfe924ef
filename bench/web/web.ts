/** Starts the server of server.mjs and asks it. */

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forkPlain } from '../child.js'
import { WILDCARD } from './hosts.mjs'

export type WebOptions =
  | { readonly sites: true }
  | {
      readonly hosts: number
      readonly pagesPerHost: number
      readonly linksPerPage: number
      readonly bytes: number
    }

export interface ServedUrl {
  readonly url: string
  readonly host: number
  readonly path: string
  /** Whether the answer was a page and not a 404 or a redirect. */
  readonly found: boolean
}

export interface Served {
  readonly requests: number
  readonly connections: number
  /** TLS connections without a full handshake. */
  readonly resumed: number
  /** Of bodies. */
  readonly bytes: number
  readonly cpuMs: number
  readonly urls?: readonly ServedUrl[]
}

export interface Certificates {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

export interface BenchWeb {
  readonly seeds: readonly string[]
  /** The sites, if it has different ones. */
  readonly names: readonly string[]
  readonly certificates: Certificates | undefined
  report(): Promise<Served>
  /** The same with all requests. */
  log(): Promise<Served & { readonly urls: readonly ServedUrl[] }>
  reset(): Promise<void>
  close(): Promise<void>
}

export async function startBenchWeb(options: WebOptions, { tls = false } = {}): Promise<BenchWeb> {
  const certificates = tls ? makeCertificates() : undefined
  const child = forkPlain('web/server.mjs')
  child.setMaxListeners(0)
  const died = once(child, 'exit').then((): never => {
    throw new Error('the server of a bench has ended')
  })
  died.catch(() => {})
  const ask = async <T>(question: unknown): Promise<T> => {
    const answered = Promise.race([once(child, 'message'), died])
    child.send(question as object)
    return (await answered)[0] as T
  }
  const { seeds, names } = await ask<Pick<BenchWeb, 'seeds' | 'names'>>({
    options,
    tls: certificates && { cert: certificates.cert, key: certificates.key },
  })
  return {
    seeds,
    names,
    certificates,
    report: () => ask('report'),
    log: () => ask('log'),
    reset: () => ask('reset'),
    async close() {
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}

/** An authority of our own, and a certificate for all hosts. */
function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'kumo-bench-'))
  const file = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' })
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  try {
    writeFileSync(file('extensions'), `subjectAltName=DNS:${WILDCARD}\n`)
    openssl(
      'req',
      '-x509',
      ...curve,
      '-days',
      '2',
      '-subj',
      '/CN=Bench CA',
      '-keyout',
      file('ca.key'),
      '-out',
      file('ca.pem'),
    )
    openssl('req', ...curve, '-subj', `/CN=${WILDCARD}`, '-keyout', file('key'), '-out', file('request'))
    openssl(
      ...[
        'x509',
        '-req',
        '-days',
        '2',
        '-in',
        file('request'),
        '-extfile',
        file('extensions'),
        '-out',
        file('cert'),
      ],
      ...['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial'],
    )
    const read = (name: string) => readFileSync(file(name), 'utf8')
    return { ca: read('ca.pem'), cert: read('cert'), key: read('key') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
