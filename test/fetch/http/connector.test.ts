import { createHook } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer, Socket } from 'node:net'
import { buildConnector, Client, request } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { cachingResolver, type Resolver } from '../../../src/fetch/dns/resolver.js'
import { AddressRefusedError } from '../../../src/fetch/http/address-guard.js'
import {
  type Connecting,
  type GuardedConnectorOptions,
  guardedConnector,
} from '../../../src/fetch/http/connector.js'
import { failureKind } from '../../../src/fetch/http/failures.js'
import { TrustedNames } from '../../../src/seen/trusted-names.js'
import { memoryState } from '../../../src/stores/memory-state.js'
import { hostOf, originOf } from '../../../src/url/canonicalize.js'
import { ManualClock } from '../../engine/manual-clock.js'
import { dnsServer } from '../dns/dns-server.js'
import { rawServer, sleep, until } from '../support.js'

const PUBLIC = '93.184.215.14'
const nothing = () => false
const everything = () => true

/** Always these addresses. */
function fixed(...addresses: string[]): Resolver {
  return {
    resolve: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  }
}

/** Notes to which addresses it would have connected, and refuses as a closed port does. */
function refusing() {
  const tried: buildConnector.Options[] = []
  const connect: buildConnector.connector = (options, callback) => {
    tried.push(options)
    const socket = new Socket()
    socket.on('error', (error) => callback(error, null))
    const refused = { code: 'ECONNREFUSED', syscall: 'connect' }
    socket.destroy(Object.assign(new Error(`connect ECONNREFUSED ${options.hostname}`), refused))
    return socket
  }
  return { connect, tried, addresses: () => tried.map(({ hostname }) => hostname) }
}

function optionsFor(url: string): buildConnector.Options {
  const { hostname, host, protocol, port } = new URL(url)
  return { hostname: hostname.replace(/^\[|\]$/g, ''), host, protocol, port }
}

interface Result {
  readonly error: (Error & { code?: string }) | null
  readonly socket: Socket | null
  readonly connecting: Connecting
  /** When no socket is left. */
  readonly closed: Promise<unknown>
}

/** Connects once, as an undici client would. Sockets end with the test. */
async function open(url: string, options: Partial<GuardedConnectorOptions>): Promise<Result> {
  const connector = guardedConnector({
    connect: buildConnector({ timeout: 5000 }),
    resolver: fixed('127.0.0.1'),
    allows: nothing,
    ...options,
  })
  return new Promise((resolve) => {
    const connecting = connector(optionsFor(url), (error, socket) => {
      resolve({ error, socket, connecting, closed })
    })
    const closed = once(connecting, 'close')
    onTestFinished(() => connecting.destroy())
  })
}

describe('guardedConnector', () => {
  it('refuses a name that leads inside, and says how to allow it', async () => {
    const server = await rawServer(() => {})
    const { error } = await open(`http://inside.test:${server.port}/`, {})
    expect(error).toBeInstanceOf(AddressRefusedError)
    expect(error).toMatchObject({
      code: 'KUMO_ADDRESS_REFUSED',
      hostname: 'inside.test',
      address: '127.0.0.1',
    })
    expect(failureKind(error, 'connecting').code).toBe('address-refused')
    await sleep(20)
    expect(server.accepted).toBe(0)
  })

  it('is asked for the sake of which host, at which address', async () => {
    const server = await rawServer(() => {})
    const asked: string[][] = []
    const allows = (...question: string[]) => asked.push(question) > 0
    const { socket } = await open(`http://seed.test:${server.port}/`, { allows })
    expect(socket?.remoteAddress).toBe('127.0.0.1')
    expect(asked).toEqual([['seed.test', '127.0.0.1']])
  })

  it('serves undici: Host stays the name, and nobody asks getaddrinfo', async () => {
    const kinds: string[] = []
    const hook = createHook({ init: (_, kind) => void kinds.push(kind) }).enable()
    onTestFinished(() => void hook.disable())
    const server = await rawServer(({ socket }) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'),
    )
    const dns = await dnsServer(() => ({ addresses: ['127.0.0.1'] }))
    const resolver = cachingResolver({ servers: [dns.server] })
    const connect = guardedConnector({ connect: buildConnector({}), resolver, allows: everything })
    const origin = `http://shop.test:${server.port}`
    const dispatcher = new Client(origin, { connect })
    const { body } = await request(`${origin}/a`, { dispatcher })
    expect(await body.text()).toBe('hi')
    expect(server.lastRequest).toContain(`host: shop.test:${server.port}\r\n`)
    expect(kinds).toContain('QUERYWRAP')
    expect(kinds).not.toContain('GETADDRINFOREQWRAP')
    await dispatcher.close()
    resolver.close()
  })

  it('does not ask about public addresses, and connects to just those', async () => {
    const { connect, addresses } = refusing()
    const allows = () => {
      throw new Error('asked')
    }
    const { error } = await open('http://a.test/', { connect, resolver: fixed(PUBLIC, '2600::1'), allows })
    expect(addresses()).toEqual([PUBLIC, '2600::1'])
    expect(failureKind(error, 'connecting').code).toBe('connect-failed')
  })

  it.each<[what: string, addresses: string[], foul: string]>([
    ['a private address after a public one', [PUBLIC, '10.0.0.1'], '10.0.0.1'],
    ['a private address before a public one', ['10.0.0.1', PUBLIC], '10.0.0.1'],
    ['one beyond those that would be tried', [...Array<string>(20).fill(PUBLIC), '::1'], '::1'],
    ['a zone', ['fe80::1%lo'], 'fe80::1%lo'],
    ['a zone on a public address', ['2600::1%lo'], '2600::1%lo'],
  ])('refuses a name with %s', async (_, all, foul) => {
    const { connect, tried } = refusing()
    const { error } = await open('http://mixed.test/', { connect, resolver: fixed(...all) })
    expect(error).toMatchObject({ code: 'KUMO_ADDRESS_REFUSED', address: foul })
    expect(tried).toEqual([])
  })

  it('a name that changes its address between two look-ups gains nothing', async () => {
    const server = await rawServer(() => {})
    let questions = 0
    const dns = await dnsServer(({ type }) => {
      if (type === 'AAAA') return { addresses: [], ttl: 0 }
      return { addresses: [questions++ === 0 ? PUBLIC : '127.0.0.1'], ttl: 0 }
    })
    const resolver = cachingResolver({ servers: [dns.server], hostsFile: false, minTtlMs: 0 })
    const { connect, addresses } = refusing()
    const url = `http://rebind.test:${server.port}/`
    const first = await open(url, { connect, resolver })
    expect(first.error?.code).toBe('ECONNREFUSED')
    expect(addresses()).toEqual([PUBLIC])
    expect(questions).toBe(1)
    for (let i = 0; i < 3; i++) {
      const { error } = await open(url, { resolver })
      expect(error).toMatchObject({ code: 'KUMO_ADDRESS_REFUSED', address: '127.0.0.1' })
    }
    expect(server.accepted).toBe(0)
    resolver.close()
  })

  it('allows a seed, but not another host with the address of the seed', async () => {
    const server = await rawServer(() => {})
    const allows = (hostname: string) => hostname === 'seed.test' || hostname === '127.0.0.2'
    const hops = ['seed.test', 'evil.test', '127.0.0.1', '127.0.0.2', 'seed.test']
    const reached: boolean[] = []
    for (const host of hops) {
      const { socket } = await open(`http://${host}:${server.port}/`, { allows })
      reached.push(socket !== null)
    }
    expect(reached).toEqual([true, false, false, true, true])
  })

  describe('a host that the caller named', () => {
    /** Answers in turn; each is looked up once, and `refusing` keeps it from leaving this machine. */
    async function reached(
      url: string,
      seeds: string[],
      ...answers: string[][]
    ): Promise<(boolean | string)[]> {
      const named = new TrustedNames(memoryState().space('addresses'))
      for (const seed of seeds) named.add(hostOf(seed), originOf(seed))
      const came: (boolean | string)[] = []
      for (const answer of answers) {
        const { connect, tried } = refusing()
        const { error } = await open(url, { connect, named, resolver: fixed(...answer) })
        came.push(tried.length > 0 || (error as AddressRefusedError).address)
      }
      return came
    }

    it.each<[what: string, answers: string[][], reached: (boolean | string)[]]>([
      [
        'private from the start',
        [['10.0.0.1'], ['10.0.0.1'], ['192.168.0.9'], ['::1']],
        [true, true, true, true],
      ],
      ['private, then public, then private', [['10.0.0.1'], [PUBLIC], ['10.0.0.1']], [true, true, true]],
      ['public, then private', [[PUBLIC], ['10.0.0.1'], [PUBLIC]], [true, '10.0.0.1', true]],
      ['public, then metadata', [[PUBLIC], ['169.254.169.254']], [true, '169.254.169.254']],
      ['private, then metadata', [['10.0.0.1'], ['169.254.169.254']], [true, '169.254.169.254']],
      ['private, then Azure', [['10.0.0.1'], ['168.63.129.16']], [true, '168.63.129.16']],
      ['metadata, then private', [['169.254.169.254'], ['10.0.0.1']], ['169.254.169.254', '10.0.0.1']],
      ['metadata beside private', [['10.0.0.1', 'fd00:ec2::254']], ['10.0.0.1']],
      ['both at once, then private', [[PUBLIC, '10.0.0.1'], ['10.0.0.1']], ['10.0.0.1', '10.0.0.1']],
      ['private, then both at once', [['10.0.0.1'], [PUBLIC, '10.0.0.1']], [true, true]],
    ])('%s', async (_, answers, expected) => {
      expect(await reached('http://seed.test/', ['http://seed.test/'], ...answers)).toEqual(expected)
    })

    it.each<[url: string, seed: string, isReached: boolean]>([
      ['http://seed.test:81/', 'http://seed.test/', false],
      ['http://seed.test/', 'http://seed.test:81/', false],
      ['http://seed.test:81/', 'http://seed.test:81/x', true],
      ['https://seed.test/', 'http://seed.test/', true],
      ['http://www.seed.test/', 'http://seed.test/', false],
      ['http://10.0.0.1/', 'http://10.0.0.1/x', true],
      ['http://10.0.0.1:8080/', 'http://10.0.0.1/', false],
      ['http://10.0.0.1/', 'http://seed.test/', false],
      ['http://[::1]:81/', 'http://[::1]:81/', true],
      ['http://[::1]:81/', 'http://[::1]/', false],
      ['http://169.254.169.254/', 'http://169.254.169.254/', false],
      ['http://168.63.129.16/', 'http://168.63.129.16/', false],
      ['http://[fe80::1]/', 'http://[fe80::1]/', false],
    ])('%s by the seed %s: %s', async (url, seed, isReached) => {
      expect(await reached(url, [seed], ['10.0.0.1'])).toEqual([isReached ? true : expect.any(String)])
    })

    it('may have what the caller allows besides', async () => {
      const named = new TrustedNames(memoryState().space('addresses'))
      named.add('seed.test', 'http://seed.test')
      const { connect, addresses } = refusing()
      for (const answer of [PUBLIC, '169.254.169.254']) {
        await open('http://seed.test/', { connect, named, resolver: fixed(answer), allows: everything })
      }
      expect(addresses()).toEqual([PUBLIC, '169.254.169.254'])
    })
  })

  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://127.0.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://017700000001/',
    'http://0177.0.0.1/',
    'http://127.0.0.1./',
    'http://①②⑦.⓪.⓪.①/',
    'http://１２７.0.0.1/',
    'http://%31%32%37.0.0.1/',
    'http://127。0。0。1/',
    'http://0/',
    'http://10.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://0xa9fea9fe/',
    'http://[::]/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::10.0.0.1]/',
    'http://[2002:7f00:1::]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'https://[::1]:8443/',
  ])('refuses the literal of %s', async (url) => {
    const { connect, tried } = refusing()
    const resolver: Resolver = { resolve: () => Promise.reject(new Error('was looked up')) }
    const { error } = await open(url, { connect, resolver })
    expect(error?.code).toBe('KUMO_ADDRESS_REFUSED')
    expect(tried).toEqual([])
  })

  it('an address in brackets is an address too', async () => {
    const connector = guardedConnector({ ...refusing(), resolver: fixed(PUBLIC), allows: nothing })
    const error = await new Promise((resolve) => {
      connector({ ...optionsFor('http://a.test/'), hostname: '[::1]' }, (...[reason]) => resolve(reason))
    })
    expect(error).toMatchObject({ code: 'KUMO_ADDRESS_REFUSED', hostname: '::1' })
  })

  it('no URL can name a zone', () => {
    expect(URL.canParse('http://[fe80::1%25lo]/')).toBe(false)
    expect(URL.canParse('http://[fe80::1%lo]/')).toBe(false)
  })

  it.each<[what: string, resolver: Resolver, code: string]>([
    ['a name instead of an address', fixed('localhost'), 'KUMO_CONTRACT_BROKEN'],
    ['an odd notation', fixed('127.1'), 'KUMO_CONTRACT_BROKEN'],
    ['nothing', fixed(), 'ENOTFOUND'],
    ['an error', cachingResolver({ servers: ['127.0.0.1:1'], tries: 1, timeoutMs: 20 }), 'EAI_AGAIN'],
  ])('connects to nothing when the resolver answers %s', async (_, resolver, code) => {
    const { connect, tried } = refusing()
    const { error } = await open('http://odd.test/', { connect, resolver, allows: everything })
    expect(error?.code).toBe(code)
    expect(tried).toEqual([])
  })

  it('an `allows` that throws is an error of this connection', async () => {
    const allows = () => {
      throw new Error('mistaken')
    }
    const { error } = await open('http://a.test/', { allows })
    expect(error?.message).toBe('mistaken')
  })

  it('a `connect` that throws is an error of this connection', async () => {
    const { error, closed } = await open('http://a.test/', {
      allows: everything,
      connect: () => {
        throw new RangeError('no such port')
      },
    })
    expect(error?.message).toBe('no such port')
    await closed
  })

  it('leaves a socket that is there already, a tunnel through a proxy, to its proxy', async () => {
    const { connect, tried } = refusing()
    const connector = guardedConnector({ connect, resolver: fixed(), allows: nothing })
    const httpSocket = new Socket()
    connector({ ...optionsFor('https://inside.test/'), httpSocket }, () => {})
    expect(tried).toMatchObject([{ hostname: 'inside.test', httpSocket }])
  })
})

describe('several addresses', () => {
  /** A server at one address of loopback only. */
  async function listenAt(address: string) {
    const server = createServer((socket) => void socket.on('error', () => {}))
    server.listen(0, address)
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    return (server.address() as { port: number }).port
  }

  it('tries the next one when one refuses', async () => {
    const port = await listenAt('127.0.0.3')
    const resolver = fixed('127.0.0.2', '127.0.0.3')
    const { socket } = await open(`http://two.test:${port}/`, { resolver, allows: everything })
    expect(socket?.remoteAddress).toBe('127.0.0.3')
  })

  it('tells the first error when all refuse, and tries no more than eight', async () => {
    const { connect, tried } = refusing()
    const resolver = fixed(...Array.from({ length: 20 }, (_, i) => `8.8.8.${i}`))
    const { error, closed } = await open('http://dead.test/', { connect, resolver })
    expect(error).toBeInstanceOf(AggregateError)
    expect(error?.message).toContain('8.8.8.0')
    expect(failureKind(error, 'connecting').code).toBe('connect-failed')
    expect(tried).toHaveLength(8)
    await closed
  })

  it('gives a slow one a rival; the first to connect wins, the other is let go', async () => {
    const port = await listenAt('127.0.0.3')
    const real = buildConnector({})
    const slow = new Socket()
    const connect = ((options, callback) => {
      if (options.hostname !== '127.0.0.2') return real(options, callback)
      return slow.on('error', (error) => callback(error, null))
    }) as buildConnector.connector
    const clock = new ManualClock()
    const resolver = fixed('127.0.0.2', '127.0.0.3', '127.0.0.4')
    const result = open(`http://slow.test:${port}/`, { connect, clock, resolver, allows: everything })
    await until(() => clock.alarms.length === 1, 'the first attempt')
    expect(clock.alarms).toEqual([clock.now() + 250])
    clock.advance(250)
    const { socket, closed } = await result
    expect(socket?.remoteAddress).toBe('127.0.0.3')
    expect(slow.destroyed).toBe(true)
    await sleep(5)
    expect(socket?.destroyed).toBe(false)
    expect(clock.alarms).toEqual([])
    socket!.destroy()
    await closed
  })

  it('a host that answered, even wrongly, is not tried elsewhere', async () => {
    const plain = createServer((socket) => socket.on('error', () => {}).end('not TLS'))
    plain.listen(0, '0.0.0.0')
    await once(plain, 'listening')
    onTestFinished(() => void plain.close())
    let accepted = 0
    plain.on('connection', () => accepted++)
    const { port } = plain.address() as { port: number }
    const resolver = fixed('127.0.0.1', '127.0.0.2')
    const { error } = await open(`https://plain.test:${port}/`, { resolver, allows: everything })
    expect(failureKind(error, 'connecting').code).toBe('tls-failed')
    expect(accepted).toBe(1)
  })

  it('greets with the name, not with the address', async () => {
    const hellos: string[] = []
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.on('data', (bytes) => {
        hellos.push(bytes.toString('latin1'))
        socket.destroy()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    await open(`https://shop.test:${port}/`, { allows: everything })
    expect(hellos).toHaveLength(1)
    expect(hellos[0]).toContain('shop.test')
  })
})

describe('Connecting', () => {
  it('can be given up while the name is looked up; nothing is opened afterwards', async () => {
    const { connect, tried } = refusing()
    let answer = (_: readonly { address: string; family: 4 }[]) => {}
    const resolver: Resolver = { resolve: () => new Promise((resolve) => (answer = resolve)) }
    const errors: (Error | null)[] = []
    const connecting = guardedConnector({ connect, resolver, allows: everything })(
      optionsFor('http://a.test/'),
      (...[error]) => void errors.push(error),
    )
    const closed = once(connecting, 'close')
    connecting.destroy(new Error('not wanted'))
    expect(errors).toEqual([])
    await closed
    answer([{ address: '127.0.0.1', family: 4 }])
    await sleep(5)
    connecting.destroy()
    expect(errors.map((error) => error?.message)).toEqual(['not wanted'])
    expect(tried).toEqual([])
  })

  it('stands for the socket once there is one', async () => {
    const server = await rawServer(() => {})
    const { socket, connecting, closed } = await open(`http://a.test:${server.port}/`, { allows: everything })
    let closes = 0
    connecting.on('close', () => closes++)
    connecting.destroy()
    expect(socket!.destroyed).toBe(true)
    await closed
    await until(() => server.open === 0, 'the server sees the end')
    expect(closes).toBe(1)
  })
})
