/** The scripts on a real server do what their twin in TypeScript does, call by call and key by key. */

import type { Redis } from 'ioredis'
import { seededRandom } from 'kumo/adapters'
import { describe, expect, test } from 'vitest'
import { type Operation, packOperations } from '../../../../src/stores/redis/protocol/operations.js'
import {
  CLAIM,
  COMMIT,
  JOIN,
  LEAVE,
  LOOK,
  RENEW,
  type Script,
  VERSION,
  WORK,
} from '../../../../src/stores/redis/protocol/scripts.js'
import { isThorough } from '../../../thorough.js'
import { whyNoRedis } from '../server.js'
import { newCrawl, useServer } from '../support.js'
import { Twin } from '../twin.js'

const STEPS = 300
const PARTITIONS = 8
/** A broken script is noticed by one of so many walks. */
const MOST_WALKS = 8

describe.skipIf(whyNoRedis())(`scripts${whyNoRedis() ? `: ${whyNoRedis()}` : ''}`, () => {
  const server = useServer()

  test.each(Array.from({ length: isThorough ? 20 : 4 }, (_, i) => i + 1))('walk %i', (seed) =>
    walk(server.redis, seed, ({ text }) => text),
  )

  // What the walks would miss, the simulations could not be trusted in either.
  test.each<[string, string, string]>([
    ['who is evicted', "return { 'fenced' }", 'return nil'],
    ['the number of a commit', 'if last ~= n - 1 then', 'if false then'],
    ['a commit that was applied', 'if last == n then', 'if false then'],
    ['another history', 'if known ~= history then', 'if false then'],
    ['the grace after an outage', 'if mine < now then', 'if false then'],
    ['what an evicted node leaves', 'if dirty then', 'if false then'],
    ['the part of a limit', 'math.ceil(rest / ', 'math.ceil(rest / 2 / '],
  ])('walks notice a script without %s', async (_, check, without) => {
    const walks = Array.from({ length: MOST_WALKS }, (_, i) => i + 1)
    const broken = ({ text }: Script) => text.replace(check, without)
    expect([JOIN, CLAIM, RENEW, COMMIT].some((script) => broken(script) !== script.text)).toBe(true)
    const noticed = async () => {
      for (const seed of walks) {
        const difference = await walk(server.redis, seed, broken).catch((error: unknown) => error)
        if (difference !== undefined) return true
      }
      return false
    }
    expect(await noticed()).toBe(true)
  })
})

/** Random calls of the scripts on a server and on the twin. Rejects if an answer or what is stored differs. */
async function walk(redis: Redis, seed: number, textOf: (script: Script) => string): Promise<void> {
  const random = seededRandom(seed)
  const upTo = (most: number) => Math.floor(random.next() * most)
  const pick = <T>(of: readonly T[]): T => of[upTo(of.length)]!
  const K = `{kumo:${newCrawl()}}`
  const run = /run_id:(\w+)/.exec(await redis.info('server'))![1]!
  const twin = new Twin(() => Date.now())
  twin.run = run
  const nodes: { id: string; token: string; commits: number }[] = []
  /** Documents that some node has taken. */
  const taken: string[] = []
  let tokens = 0
  let history = ''
  const both = async (script: Script, ...args: (string | number | Uint8Array)[]) => {
    const expected = twin.call(script, K, args)
    const reply = (await redis.eval(textOf(script), 1, K, ...(args as string[]))) as string[]
    expect(withoutTime(script, reply), `${script.name} ${args.join(' ')}`).toEqual(
      withoutTime(script, expected),
    )
    return reply
  }
  for (let step = 0; step < STEPS; step++) {
    const what = random.next()
    const node = pick(nodes)
    // A lease that is over at once, or lasts.
    const ttl = random.next() < 0.2 ? -1000 : 1_000_000
    if (node === undefined || what < 0.06) {
      const token = `t${++tokens}`
      const identity = random.next() < 0.1 ? '{"a":"2"}' : '{"a":"1"}'
      const version = random.next() < 0.05 ? '0' : VERSION
      const former = random.next() < 0.2 && node ? [node.id, node.token] : ['', '']
      const isFirst = nodes.length === 0
      const given = isFirst ? [VERSION, '{"a":"1"}'] : [version, identity]
      const reply = await both(JOIN, token, ttl, ...given, PARTITIONS, ...former)
      if (reply[0] !== 'ok') continue
      history = reply[4]!
      nodes.push({ id: reply[1]!, token, commits: 0 })
      continue
    }
    const { id, token } = node
    const known = random.next() < 0.03 ? 'another' : history
    if (what < 0.16) await both(CLAIM, id, token, known, ttl, upTo(PARTITIONS))
    else if (what < 0.3) await both(RENEW, id, token, known, ttl)
    else if (what < 0.4) await both(LOOK, id, token, known, ttl)
    else if (what < 0.42) await both(LEAVE, id, token, ...(what < 0.41 ? ['dirty'] : []))
    else if (what < 0.5) {
      const reply = await both(WORK, id, token, known, ttl, 1 + upTo(3))
      if (reply[0] === 'ok') taken.push(...reply.slice(2))
    } else {
      const n = node.commits + pick([1, 1, 1, 1, 1, 0, 2])
      const numbers = [
        pick([0, 1]),
        upTo(5) - 2,
        upTo(3),
        upTo(3),
        upTo(1000),
        upTo(9),
        upTo(9),
        pick([-1, 40]),
        -1,
      ]
      const operations = Array.from({ length: upTo(8) }, () => operation(pick, upTo, taken))
      const reply = await both(COMMIT, id, token, known, ttl, n, ...numbers, packOperations(operations))
      if (reply[0] === 'ok') node.commits = n
    }
  }
  expect(await dump(redis, K)).toEqual(dumpOf(twin))
}

function operation(
  pick: <T>(of: readonly T[]) => T,
  upTo: (most: number) => number,
  taken: string[],
): Operation {
  const partition = String(upTo(PARTITIONS))
  const bytes = Uint8Array.from({ length: 8 }, () => upTo(256))
  return pick<Operation>([
    ['mail', partition, 'a line', 'änother\n蜘蛛'],
    ['take', partition, `${upTo(200)}-${upTo(3)}`],
    ['give', partition],
    ['work', 'hook', bytes],
    ['work', 'hook', bytes],
    ['done', taken[upTo(taken.length)] ?? '1-0', '8'],
    ['give', partition, String(1 + upTo(4))],
    ['HSET', ':load', String(1 + upTo(4)), '2.50'],
    ['RPUSH', ':seeds', 'https://a.example/', 'https://b.example/'],
    ['LTRIM', ':seeds', '-3', '-1'],
    ['HINCRBY', ':n', 'seeds', '2'],
    ['RPUSH', `:q:${partition}:0`, 'one', 'two'],
    ['RPUSH', `:s:${partition}`, bytes],
    ['LSET', `:q:${partition}:0`, String(upTo(6)), ''],
    ['DEL', `:q:${partition}:0`],
    ['HSET', `:h:${partition}`, `host${upTo(3)}`, 'record', 'other', ''],
    ['HDEL', `:h:${partition}`, `host${upTo(3)}`],
  ])
}

/** Replies may differ in the server's clock, and in the order of sets. */
function withoutTime({ name }: Script, reply: readonly string[]): unknown {
  if (name === 'join') return reply.map((part, i) => (i === 3 ? '' : part))
  return reply.map((part, i) => (i === 14 ? part.split(' ').sort().join(' ') : part))
}

const TIMES = /:nodes$|:dirty$/

async function dump(redis: Redis, K: string): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {}
  for (const key of await redis.keys(`${K.replaceAll(/[{}]/g, '\\$&')}*`)) {
    const kind = await redis.type(key)
    if (kind === 'hash') found[key] = plain(key, Object.entries(await redis.hgetallBuffer(key)))
    else if (kind === 'list')
      found[key] = (await redis.lrangeBuffer(key, 0, -1)).map((each) => each.toString('hex'))
    else if (kind === 'set') found[key] = (await redis.smembers(key)).sort()
    else
      found[key] = (await redis.xrange(key, '-', '+')).map(([id, fields]) => [
        id,
        fields.filter((_, i) => i % 2 === 1),
      ])
  }
  return found
}

function dumpOf({ hashes, lists, streams, sets }: Twin): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (const [key, hash] of hashes) found[key] = plain(key, [...hash])
  for (const [key, list] of lists) found[key] = list.map((each) => each.toString('hex'))
  for (const [key, set] of sets) found[key] = [...set].sort()
  for (const [key, letters] of streams) found[key] = letters.map(([id, lines]) => [id, lines.map(String)])
  return found
}

/** Instants are those of two clocks. */
function plain(key: string, fields: [string, Buffer][]): Record<string, string> {
  const values = fields.map(([field, value]) => [
    field,
    TIMES.test(key) || field === 'grace' || field === 'at' ? '' : value.toString(),
  ])
  return Object.fromEntries(values.sort())
}
