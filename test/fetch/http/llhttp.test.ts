/** Raw responses that llhttp, the parser of Node and undici, is tested with, sent as a server would send them. */

import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../../src/fetch/contract.js'
import { makeFetcher, rawServer, requestFor, sleep, suiteFile, TestContext } from '../support.js'

interface Case {
  readonly name: string
  readonly meta: { readonly type: string }
  readonly raw_b64: string
  readonly error: { readonly reason: string } | null
  /** What llhttp's own test sees, an event a line. */
  readonly log: string
}

/** What a fetch has to make of a response: `'ok 200 body'`, or `'failed'`. */
interface Expected {
  readonly name: string
  readonly raw: Buffer
  readonly outcome: string
  /** Its end is told by its length or its last chunk, not by the end of the connection. */
  readonly framed: boolean
}

/**
 * Where a crawler's answer is not what the parser's test says, and why. The other lenient variants test switches
 * that undici does not set, so they count as invalid.
 */
const AFTER_CLOSE = 'the answer was complete; what follows `Connection: close` is nobody’s and is not read'
const EXCEPTIONS: Readonly<Record<string, readonly [outcome: string, reason: string]>> = {
  'Content-Length reset when no body is received': [
    'failed',
    'the answer to a HEAD request; after a GET its 123 bytes are missing',
  ],
  'Bare CR followed by CR after response line': [
    'ok 200 Evil',
    'undici’s parser goes on after a CR without LF; with one request at a time nothing can be smuggled',
  ],
  'HTTP/1.1 with keep-alive disabled and 204 status': ['ok 204 ', AFTER_CLOSE],
  'HTTP/1.1 with keep-alive disabled and 204 status (lenient)': ['ok 204 ', AFTER_CLOSE],
  'HTTP/1.1 with keep-alive disabled, content-length': ['ok 200 2ad73', AFTER_CLOSE],
  'HTTP/1.1 with keep-alive disabled, content-length (lenient)': ['ok 200 2ad73', AFTER_CLOSE],
}

const CHUNKED = 0x8
const CONTENT_LENGTH = 0x20

function expectedOf({ name, meta, raw_b64, error, log }: Case): Expected {
  const raw = Buffer.from(raw_b64, 'base64')
  const isValid = error === null && /^response(?:-finish)?$/.test(meta.type)
  let status = 0
  let framed = false
  let complete = false
  const body: Buffer[] = []
  for (const line of log.split('\n')) {
    const headers = /headers complete status=(\d+) .*flags=([0-9a-f]+)/.exec(line)
    const span = /^off=(\d+) len=(\d+) span\[body\]/.exec(line)
    if (headers) {
      status = Number(headers[1])
      framed = (Number.parseInt(headers[2]!, 16) & (CHUNKED | CONTENT_LENGTH)) !== 0
    } else if (span) {
      body.push(raw.subarray(Number(span[1]), Number(span[1]) + Number(span[2])))
    } else if (line.endsWith('message complete') && status >= 200) {
      complete = true
      break
    }
  }
  const isKept = status >= 200 && status < 300
  const isWhole = complete || !framed || !isKept
  const text = isKept ? Buffer.concat(body).toString('latin1') : ''
  const outcome = isValid && status >= 200 && isWhole ? `ok ${status} ${text}` : 'failed'
  return { name, raw, outcome: EXCEPTIONS[name]?.[0] ?? outcome, framed: complete }
}

function textOf(outcome: Outcome): string {
  return outcome.ok ? `ok ${outcome.status} ${Buffer.from(outcome.body).toString('latin1')}` : 'failed'
}

/** The pieces in which a server sends a response. */
type Delivery = (raw: Buffer) => AsyncIterable<Uint8Array> | Iterable<Uint8Array>

const whole: Delivery = (raw) => [raw]
const byteByByte: Delivery = async function* (raw) {
  for (let at = 0; at < raw.length; at++) {
    yield raw.subarray(at, at + 1)
    await turn()
  }
}

/** An outcome for each, or an error that names those without. `end`: whether the server closes after each. */
async function replay(cases: readonly Expected[], delivery: Delivery, end = true): Promise<Outcome[]> {
  const server = await rawServer(async ({ socket, path }) => {
    for await (const piece of delivery(cases[Number(path.slice(1))]!.raw)) {
      if (!socket.writable) return
      socket.write(piece)
    }
    if (end) socket.end()
  })
  const fetcher = makeFetcher({ connectionsPerHost: 100 })
  const contexts = cases.map(() => new TestContext())
  const hanging = new Set(cases.map(({ name }) => name))
  const all = Promise.all(
    cases.map(async ({ name }, i) => {
      const outcome = await fetcher.fetch(requestFor(server.url(`/${i}`)), contexts[i]!)
      hanging.delete(name)
      return outcome
    }),
  )
  // A server that never closes leaves what is not complete waiting until the engine's deadline.
  await Promise.race([all, sleep(end ? 10_000 : 1000)])
  if (end) expect([...hanging]).toEqual([])
  else for (const context of contexts) context.abort()
  return all
}

const FILE = suiteFile('http/llhttp_responses.json')
describe.skipIf(FILE === undefined)('responses of llhttp (skipped without ../shared/suites)', () => {
  const given = FILE === undefined ? [] : (JSON.parse(FILE.toString()) as Case[])
  const cases = given.map(expectedOf)

  it('are what they should be', async () => {
    const outcomes = await replay(cases, whole)
    const ok = outcomes.filter((outcome) => outcome.ok).length
    const codes = outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.code]))
    const counts = [...new Set(codes)].map(
      (code) => `${codes.filter((other) => other === code).length} ${code}`,
    )
    console.log(`llhttp: ${outcomes.length} responses, ${ok} ok, ${counts.join(', ')}`)
    for (const [name, [outcome, reason]] of Object.entries(EXCEPTIONS)) {
      console.log(`llhttp exception: ${name}: ${JSON.stringify(outcome)}, ${reason}`)
    }
    expect(outcomes.length).toBe(85)
    expect(new Set(codes)).toEqual(new Set(['bad-response', 'connection-lost']))
    expect(named(cases, outcomes.map(textOf))).toEqual(
      named(
        cases,
        cases.map(({ outcome }) => outcome),
      ),
    )
  })

  it('are the same byte by byte', async () => {
    const outcomes = await replay(cases, byteByByte)
    expect(named(cases, outcomes.map(textOf))).toEqual(
      named(
        cases,
        cases.map(({ outcome }) => outcome),
      ),
    )
  })

  it.each([0.1, 0.25, 0.5, 0.75, 0.9, 1])('never pass for whole when cut off at %f', async (share) => {
    const cut = (raw: Buffer) => raw.subarray(0, Math.min(Math.floor(raw.length * share), raw.length - 1))
    const outcomes = await replay(cases, (raw) => [cut(raw)])
    const wrong = cases.filter(({ outcome, framed }, i) => {
      const got = outcomes[i]!
      if (!got.ok || got.status >= 300) return false
      return framed ? textOf(got) !== outcome : !outcome.startsWith(textOf(got))
    })
    expect(wrong.map(({ name }) => name)).toEqual([])
  })

  it('need no end of the connection if they tell their own, and let go of it otherwise', async () => {
    const outcomes = await replay(cases, whole, false)
    for (const [i, { name, outcome, framed }] of cases.entries()) {
      if (framed && outcome !== 'failed') expect(textOf(outcomes[i]!), name).toBe(outcome)
    }
  })
})

/** As an object, so that a difference shows the name; some names occur twice. */
function named(cases: readonly Expected[], outcomes: readonly string[]): Record<string, string> {
  return Object.fromEntries(cases.map(({ name }, i) => [`${i} ${name}`, outcomes[i]!]))
}
