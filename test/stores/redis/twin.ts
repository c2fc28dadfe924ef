/**
 * The scripts in TypeScript, on maps in memory: a server for simulations. Random walks compare it with the real one, so
 * that what a simulation shows holds for Redis too.
 */

import type { Argument, Command, RedisClient } from '../../../src/stores/redis/client/contract.js'
import type { Script } from '../../../src/stores/redis/protocol/scripts.js'
import { unpackOperations } from './unpack.js'

type Reply = string[]
type Letter = [id: string, lines: Buffer[]]

/** The number after `known` in the list of births at which the histories part; -1 if it is not in the list. */
function baseOf(births: readonly string[], known: string): number {
  const at = births.findLastIndex((birth) => birth.startsWith(`${known}|`))
  const bases = births.slice(at + 1).map((birth) => Number(birth.split('|')[1]))
  return at < 0 || bases.length === 0 ? -1 : Math.min(...bases)
}

/** The checks that a twin can leave out. */
export type Broken = 'fence' | 'number' | 'grace' | 'dirty' | 'history' | 'born'

/** The keys of a server, by kind. */
export interface TwinData {
  readonly hashes: Map<string, Map<string, Buffer>>
  readonly lists: Map<string, Buffer[]>
  readonly streams: Map<string, Letter[]>
  readonly sets: Map<string, Set<string>>
  readonly taken: Map<string, string>
}

export class Twin {
  run = 'run1'
  readonly now: () => number
  hashes = new Map<string, Map<string, Buffer>>()
  lists = new Map<string, Buffer[]>()
  streams = new Map<string, Letter[]>()
  sets = new Map<string, Set<string>>()
  /** Who has taken an entry of a stream, by the keys of both. */
  taken = new Map<string, string>()

  readonly #clock: () => number
  readonly #broken: Broken | undefined

  /** `broken`: a check that is left out, to see whether tests notice. */
  constructor(now: () => number, broken?: Broken) {
    this.#clock = now
    this.now = () => Math.floor(now())
    this.#broken = broken
  }

  /** Everything, as it is now; `restore` goes back to it, as a fail-over to a lagging replica does. */
  snapshot(): TwinData {
    return {
      hashes: new Map([...this.hashes].map(([key, hash]) => [key, new Map(hash)])),
      lists: new Map([...this.lists].map(([key, list]) => [key, [...list]])),
      streams: new Map([...this.streams].map(([key, letters]) => [key, [...letters]])),
      sets: new Map([...this.sets].map(([key, set]) => [key, new Set(set)])),
      taken: new Map(this.taken),
    }
  }

  /** `run` is the name of the new history. */
  restore({ hashes, lists, streams, sets, taken }: TwinData, run: string): void {
    this.hashes = hashes
    this.lists = lists
    this.streams = streams
    this.sets = sets
    this.taken = taken
    this.run = run
  }

  client(): RedisClient {
    return {
      replicas: 0,
      run: async (script, key, args) => this.call(script, key, args),
      runConfirmed: async (script, key, args) => ({
        reply: this.call(script, key, args),
        isConfirmed: true,
      }),
      read: async (commands) => this.read(commands),
      reconnect() {},
      close() {},
    }
  }

  read(commands: readonly Command[]): unknown[] {
    return commands.map((command) => this.#read(command))
  }

  call({ name }: Script, K: string, args: readonly Argument[]): Reply {
    const given = args.map((arg) => (arg instanceof Uint8Array ? arg : String(arg)))
    const texts = given as string[]
    switch (name) {
      case 'join':
        return this.#join(K, texts)
      case 'claim':
        return this.#refusal(K, texts) ?? this.#claim(K, texts)
      case 'renew':
        return this.#refusal(K, texts) ?? this.#renew(K, texts)
      case 'look':
        return this.#refusal(K, texts) ?? this.#status(K, texts[0]!, this.#get(`${K}:n`, 'seq')!)
      case 'work':
        return this.#refusal(K, texts) ?? this.#work(K, texts)
      case 'commit':
        return this.#refusal(K, texts) ?? this.#commit(K, texts, given[14] as Uint8Array)
      default:
        return this.#leave(K, texts)
    }
  }

  #hash(key: string): Map<string, Buffer> {
    return this.hashes.get(key) ?? new Map()
  }

  #get(key: string, field: string): string | undefined {
    return this.#hash(key).get(field)?.toString()
  }

  #number(key: string, field: string): number {
    return Number(this.#get(key, field) ?? 0)
  }

  #set(key: string, ...pairs: (string | number | Uint8Array)[]): void {
    const hash = this.#hash(key)
    for (let i = 0; i < pairs.length; i += 2) {
      const value = pairs[i + 1]!
      hash.set(String(pairs[i]), Buffer.from(typeof value === 'number' ? String(value) : value))
    }
    this.hashes.set(key, hash)
  }

  #delete(key: string, ...fields: string[]): number {
    const hash = this.#hash(key)
    const deleted = fields.filter((field) => hash.delete(field)).length
    if (hash.size === 0) this.hashes.delete(key)
    return deleted
  }

  #increase(key: string, field: string, by: number): number {
    const value = this.#number(key, field) + by
    this.#set(key, field, value)
    return value
  }

  #push(key: string, ...values: (string | Uint8Array)[]): void {
    const list = this.lists.get(key) ?? []
    list.push(...values.map((value) => Buffer.from(value)))
    this.lists.set(key, list)
  }

  #noteBirth(K: string, ttl: number): void {
    if (this.#get(`${K}:n`, 'run')?.split('@')[0] === this.run) return
    if (this.#broken === 'history') return
    const seq = this.#number(`${K}:n`, 'seq')
    const until = this.now() + ttl
    this.#set(`${K}:n`, 'run', `${this.run}@${seq}`)
    if (this.#broken !== 'grace') this.#set(`${K}:n`, 'grace', until)
    if (this.#broken !== 'born') this.#set(`${K}:n`, 'born', until)
    this.#push(`${K}:births`, `${this.run}@${seq}|${seq}`)
  }

  #refusal(K: string, [id, token, known, ttl]: readonly string[]): Reply | undefined {
    this.#noteBirth(K, Number(ttl))
    const history = this.#get(`${K}:n`, 'run')!
    if (known !== history) {
      const births = (this.lists.get(`${K}:births`) ?? []).map(String)
      return ['reborn', String(baseOf(births, known!)), history]
    }
    const isFenced = this.#get(`${K}:node:${id}`, 'token') !== token
    return isFenced && this.#broken !== 'fence' ? ['fenced'] : undefined
  }

  #forget(K: string, id: string, isDirty: boolean): void {
    const node = `${K}:node:${id}`
    if (this.#get(node, 'resting') === '1') this.#increase(`${K}:n`, 'resting', -1)
    for (const counter of ['pages', 'requests']) {
      const held = this.#get(node, counter)
      if (held !== undefined) this.#increase(`${K}:n`, `shared:${counter}`, -Number(held))
    }
    for (const [partition, owner] of [...this.#hash(`${K}:own`)]) {
      if (owner.toString() !== id) continue
      this.#delete(`${K}:own`, partition)
      if (isDirty && this.#broken !== 'dirty') this.#set(`${K}:dirty`, partition, this.now())
    }
    const held = [...this.taken].filter(([entry, by]) => entry.startsWith(`${K}:work `) && by === id)
    if (held.length > 0) this.#increase(`${K}:n`, 'waiting', held.length)
    this.#delete(`${K}:nodes`, id)
    this.#delete(`${K}:load`, id)
    this.hashes.delete(node)
    this.sets.delete(`${K}:mail:${id}`)
  }

  #evict(K: string, but: string): void {
    if (this.now() < this.#number(`${K}:n`, 'grace')) return
    for (const [id, until] of [...this.#hash(`${K}:nodes`)]) {
      if (id !== but && Number(until) < this.now()) this.#forget(K, id, true)
    }
  }

  #status(K: string, id: string, seq: string | number): Reply {
    const n = `${K}:n`
    const nodes = this.#hash(`${K}:nodes`).size
    const left = this.#number(n, 'left')
    if (left > 0) {
      if (this.#get(n, 'over') === '1') this.#set(n, 'over', '0')
    } else if (this.#number(n, 'resting') === nodes && this.#get(n, 'over') !== '1') this.#set(n, 'over', '1')
    const facts = ['pages', 'requests', 'bytes', 'shared:pages', 'shared:requests']
    const free = this.#number(n, 'partitions') - this.#hash(`${K}:own`).size
    return [
      ...['ok', String(seq), String(left), this.#get(n, 'over') ?? '0', String(nodes), String(free)],
      ...[...facts, 'seeds', 'waiting', 'work'].map((fact) => this.#get(n, fact) ?? '0'),
      [...(this.sets.get(`${K}:mail:${id}`) ?? [])].join(' '),
    ]
  }

  #join(K: string, args: readonly string[]): Reply {
    const [token, ttl, version, identity, partitions, former, formerToken] = args as [string, ...string[]]
    const n = `${K}:n`
    const [storedVersion, storedIdentity] = [this.#get(n, 'version'), this.#get(n, 'identity')]
    if (storedVersion !== undefined && storedVersion !== version) return ['version', storedVersion]
    if (storedVersion !== undefined && storedIdentity !== identity) return ['identity', storedIdentity!]
    if (storedVersion === undefined && former !== '') return ['gone']
    const seq = this.#increase(n, 'seq', 1)
    if (storedVersion === undefined) {
      this.#set(n, 'version', version!, 'identity', identity!, 'partitions', partitions!)
      this.#set(n, 'left', 0, 'run', `${this.run}@0`, 'grace', 0)
      this.#push(`${K}:births`, `${this.run}@0|0`)
    }
    this.#noteBirth(K, Number(ttl))
    if (former !== '' && this.#get(`${K}:node:${former}`, 'token') === formerToken)
      this.#forget(K, former!, true)
    this.#evict(K, '')
    const others = this.#hash(`${K}:nodes`).size
    const id = String(this.#increase(n, 'joined', 1))
    if (others === 0) this.#increase(n, 'runs', 1)
    this.#set(n, 'over', '0')
    this.#set(`${K}:nodes`, id, this.now() + Number(ttl))
    this.hashes.delete(`${K}:node:${id}`)
    this.#set(`${K}:node:${id}`, 'token', token, 'commit', 0)
    const history = this.#get(n, 'run')!
    return ['ok', id, String(seq), String(this.now()), history, String(others), this.#get(n, 'runs')!]
  }

  #claim(K: string, [id, , , , most]: readonly string[]): Reply {
    const waitMs = Math.max(0, this.#number(`${K}:n`, 'born') - this.now())
    const reply = ['ok', String(this.#increase(`${K}:n`, 'seq', 1)), String(waitMs)]
    let left = Number(most)
    const isThere = (node: string) => this.hashes.has(`${K}:node:${node}`)
    for (let p = 0; p < this.#number(`${K}:n`, 'partitions'); p++) {
      if (this.#hash(`${K}:own`).has(String(p))) continue
      const target = this.#get(`${K}:for`, String(p))
      const isGiven = target !== undefined && isThere(target)
      if (isGiven ? target !== id : left <= 0) continue
      if (!isGiven) left--
      this.#delete(`${K}:for`, String(p))
      this.#set(`${K}:own`, p, id!)
      reply.push(String(p), String(this.#delete(`${K}:dirty`, String(p))))
    }
    return reply
  }

  #renew(K: string, [id, , , ttl]: readonly string[]): Reply {
    const mine = this.#number(`${K}:nodes`, id!)
    const until = this.now() + Number(ttl)
    this.#set(`${K}:nodes`, id!, until)
    if (mine >= this.now() || this.#broken === 'grace') this.#evict(K, id!)
    else if (this.#number(`${K}:n`, 'grace') < until) this.#set(`${K}:n`, 'grace', until)
    return this.#status(K, id!, this.#get(`${K}:n`, 'seq')!)
  }

  #work(K: string, [id, , , , most]: readonly string[]): Reply {
    const reply = ['ok', this.#get(`${K}:n`, 'seq')!]
    const entries = (this.streams.get(`${K}:work`) ?? []).map(([entry]) => entry)
    const takerOf = (entry: string) => this.taken.get(`${K}:work ${entry}`)
    const own = entries.filter((entry) => takerOf(entry) === id)
    reply.push(...own)
    if (this.#number(`${K}:n`, 'waiting') <= 0) return reply
    const isOrphan = (entry: string) => {
      const taker = takerOf(entry)
      return taker !== undefined && !this.hashes.has(`${K}:node:${taker}`)
    }
    // Those of nodes that are gone come node by node, in the order of their names.
    const orphans = entries
      .filter(isOrphan)
      .sort((a, b) => (takerOf(a)! === takerOf(b)! ? 0 : takerOf(a)! < takerOf(b)! ? -1 : 1))
    const fresh = entries.filter((entry) => takerOf(entry) === undefined)
    for (const entry of [...orphans, ...fresh].slice(0, Math.max(0, Number(most) - own.length))) {
      this.taken.set(`${K}:work ${entry}`, id!)
      reply.push(entry)
    }
    const more = reply.length - 2 - own.length
    if (more > 0) this.#increase(`${K}:n`, 'waiting', -more)
    return reply
  }

  #leave(K: string, [id, token, how]: readonly string[]): Reply {
    if (this.#get(`${K}:node:${id}`, 'token') !== token) return ['fenced']
    const seq = this.#increase(`${K}:n`, 'seq', 1)
    this.#forget(K, id!, how === 'dirty')
    return ['ok', String(seq)]
  }

  #commit(K: string, args: readonly string[], packed: Uint8Array): Reply {
    const [id, n] = [args[0]!, Number(args[4])]
    const [crawl, node] = [`${K}:n`, `${K}:node:${id}`]
    const last = this.#number(node, 'commit')
    if (last === n && this.#broken !== 'number') {
      const held = ['pages', 'requests'].map((counter) => this.#get(node, counter) ?? '0')
      return [...this.#status(K, id, this.#get(crawl, 'seq')!), ...held]
    }
    const isUnchecked = this.#broken === 'number' || (this.#broken === 'fence' && !this.hashes.has(node))
    if (last !== n - 1 && !isUnchecked) return ['behind', String(last)]
    const seq = this.#increase(crawl, 'seq', 1)
    this.#set(node, 'commit', n)
    if ((this.#get(node, 'resting') ?? '0') !== args[5]) {
      this.#set(node, 'resting', args[5]!)
      this.#increase(crawl, 'resting', args[5] === '1' ? 1 : -1)
    }
    this.#increase(crawl, 'left', Number(args[6]))
    this.#increase(crawl, 'bytes', Number(args[9]))
    this.#set(crawl, 'at', this.now())
    const shares = ['pages', 'requests'].map((counter, i) => {
      const [spent, want, limit] = [7, 10, 12].map((at) => Number(args[at + i]))
      const total = this.#increase(crawl, counter, spent!)
      const held = this.#number(node, counter)
      if (limit! < 0) return String(held)
      let change = -Math.min(held, spent!)
      if (want! < held + change) change = want! - held
      else if (want! > held + change) {
        const rest = limit! - total - (this.#number(crawl, `shared:${counter}`) + change)
        const part = Math.ceil(rest / this.#hash(`${K}:nodes`).size)
        change += Math.max(0, Math.min(want! - held - change, part))
      }
      if (change !== 0) {
        this.#increase(crawl, `shared:${counter}`, change)
        this.#set(node, counter, held + change)
      }
      return String(held + change)
    })
    let mails = 0
    let works = 0
    for (const operation of unpackOperations(packed)) {
      const isWork = String(operation[0]) === 'work'
      this.#apply(K, id, operation, () => `${seq}-${isWork ? works++ : mails++}`)
    }
    return [...this.#status(K, id, seq), ...shares]
  }

  #apply(K: string, id: string, [what, name, ...rest]: readonly Buffer[], nextId: () => string): void {
    const key = K + name
    const texts = rest.map(String)
    const partition = String(name)
    const [inbox, mail] = [`${K}:in:${partition}`, `${K}:mail:${id}`]
    switch (String(what)) {
      case 'mail': {
        const letters = this.streams.get(inbox) ?? []
        letters.push([nextId(), rest])
        this.streams.set(inbox, letters)
        const owner = this.#get(`${K}:own`, partition)
        if (owner === undefined) return
        this.sets.set(`${K}:mail:${owner}`, (this.sets.get(`${K}:mail:${owner}`) ?? new Set()).add(partition))
        return
      }
      case 'take': {
        const left = (this.streams.get(inbox) ?? []).filter(([letter]) => !isBefore(letter, texts[0]!))
        this.streams.set(inbox, left)
        if (left.length > 0) return
        this.streams.delete(inbox)
        this.#drop(mail, partition)
        return
      }
      case 'give':
        this.#drop(mail, partition)
        if (this.#get(`${K}:own`, partition) === id) {
          this.#delete(`${K}:own`, partition)
          if (texts[0] !== undefined) this.#set(`${K}:for`, partition, texts[0])
        }
        return
      case 'work': {
        const letters = this.streams.get(`${K}:work`) ?? []
        letters.push([nextId(), [name!, rest[0]!]])
        this.streams.set(`${K}:work`, letters)
        this.#increase(`${K}:n`, 'waiting', 1)
        this.#increase(`${K}:n`, 'work', rest[0]!.byteLength)
        return
      }
      case 'done': {
        const letters = this.streams.get(`${K}:work`) ?? []
        const at = letters.findIndex(([entry]) => entry === partition)
        this.taken.delete(`${K}:work ${partition}`)
        if (at < 0) return
        letters.splice(at, 1)
        this.#increase(`${K}:n`, 'left', -1)
        this.#increase(`${K}:n`, 'work', -Number(texts[0]))
        return
      }
      case 'HINCRBY':
        this.#increase(key, texts[0]!, Number(texts[1]))
        return
      case 'LTRIM':
        this.lists.set(key, (this.lists.get(key) ?? []).slice(Number(texts[0])))
        return
      case 'RPUSH':
        this.#push(key, ...rest)
        return
      case 'LSET': {
        const list = this.lists.get(key)
        if (list !== undefined && Number(texts[0]) < list.length) list[Number(texts[0])] = rest[1]!
        return
      }
      case 'DEL':
        this.lists.delete(key)
        return
      case 'HSET':
        this.#set(key, ...rest.map((part, i) => (i % 2 === 0 ? String(part) : part)))
        return
      case 'HDEL':
        this.#delete(key, ...texts)
        return
      default:
        throw new Error(`no such operation: ${what}`)
    }
  }

  #drop(set: string, member: string): void {
    this.sets.get(set)?.delete(member)
    if (this.sets.get(set)?.size === 0) this.sets.delete(set)
  }

  #read([command, key, ...rest]: Command): unknown {
    const name = String(key)
    switch (command) {
      case 'TIME':
        return [String(Math.floor(this.#clock() / 1000)), String(Math.floor((this.#clock() % 1000) * 1000))]
      case 'HGET':
        return this.#hash(name).get(String(rest[0])) ?? null
      case 'HMGET':
        return rest.map((field) => this.#hash(name).get(String(field)) ?? null)
      case 'HKEYS':
        return [...this.#hash(name).keys()].map((field) => Buffer.from(field))
      case 'HGETALL':
        return [...this.#hash(name)].flatMap(([field, value]) => [Buffer.from(field), value])
      case 'HSCAN': {
        const prefix = String(rest[2]).slice(0, -1).replaceAll('\\', '')
        const found = [...this.#hash(name)].filter(([field]) => field.startsWith(prefix))
        return [Buffer.from('0'), found.flatMap(([field, value]) => [Buffer.from(field), value])]
      }
      case 'LRANGE':
        return [...(this.lists.get(name) ?? [])]
      case 'XRANGE': {
        const letters = (this.streams.get(name) ?? []).filter(
          ([id]) => rest[0] === '-' || !isBefore(id, String(rest[0])),
        )
        const some = letters.slice(0, Number(rest[3]))
        return some.map(([id, lines]) => [Buffer.from(id), lines.flatMap((line) => [Buffer.from('r'), line])])
      }
      default:
        throw new Error(`no such command: ${command}`)
    }
  }
}

function isBefore(a: string, b: string): boolean {
  const [[seqA, iA], [seqB, iB]] = [a, b].map((id) => id.split('-').map(Number)) as [number[], number[]]
  return seqA! < seqB! || (seqA === seqB && iA! < iB!)
}
