/** The connection: TLS, users with few rights, Sentinels, and what a replica must confirm. */

import { join } from 'node:path'
import { Crawler } from 'kumo'
import { type RedisConnection, redis } from 'kumo/redis'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { connect } from '../../../src/stores/redis/client/connect.js'
import { JOIN, VERSION } from '../../../src/stores/redis/protocol/scripts.js'
import { NAME, ReplicatedRedis } from '../../cluster/replicated.js'
import { CA } from '../../fetch/certificates/index.js'
import { freePort, RedisServer, whyNoRedis } from './server.js'

const CERTIFICATES = join(import.meta.dirname, '../../fetch/certificates')
/** As docs/cluster.md gives it. */
const RIGHTS =
  '~{kumo:* +@connection +@hash +@list +@set +@stream +@keyspace +@scripting -@dangerous +info +time +wait'

const crawl = (where: string | RedisConnection) =>
  new Crawler()
    .seeds('http://127.0.0.1:1/')
    .allowPrivate('all')
    .retries(0)
    .store(redis(where, { crawl: 'a', ttl: '2s' }))
    .run()

let close: () => Promise<void> = async () => {}
afterEach(async () => {
  vi.unstubAllEnvs()
  await close()
  close = async () => {}
})

describe.skipIf(whyNoRedis())(`the client${whyNoRedis() ? `: ${whyNoRedis()}` : ''}`, () => {
  test('TLS with a certificate of its own, and a user with few rights', async () => {
    const port = await freePort()
    const file = (option: string, name: string) => [`--tls-${option}-file`, join(CERTIFICATES, name)]
    const server = await RedisServer.start({
      args: [
        ...['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no'],
        ...[...file('cert', 'server.pem'), ...file('key', 'server.key'), ...file('ca-cert', 'ca.pem')],
        ...['--user', 'default', 'off', '--user', 'kumo', 'on', '>secret', ...RIGHTS.split(' ')],
      ],
    })
    close = () => server.stop()
    const url = `rediss://127.0.0.1:${port}`

    await expect(crawl(url)).rejects.toThrow(/certificate.*check the option tls/)
    await expect(crawl(`redis://127.0.0.1:${port}`)).rejects.toThrow(/give its address as rediss:/)
    const byOption = { host: '127.0.0.1', port, username: 'kumo', password: 'secret', tls: { ca: CA } }
    expect((await crawl(byOption)).reason).toBe('done')

    vi.stubEnv('KUMO_REDIS_CA', join(CERTIFICATES, 'ca.pem'))
    await expect(crawl(url)).rejects.toThrow(/check user and password/)
    vi.stubEnv('KUMO_REDIS_USERNAME', 'kumo')
    vi.stubEnv('KUMO_REDIS_PASSWORD', 'secret')
    expect((await crawl(url)).reason).toBe('already-done')
    vi.stubEnv('KUMO_REDIS_CA', join(CERTIFICATES, 'none.pem'))
    await expect(crawl(url)).rejects.toThrow(/KUMO_REDIS_CA.*none\.pem/)
  })

  test('Sentinels lead to the primary, replicas confirm leases, and a new primary knows no script', async () => {
    const group = await ReplicatedRedis.start({ replicas: 1, sentinels: 1 })
    close = () => group.close()
    const nobody = { host: '127.0.0.1', port: await freePort() }
    const client = await connect({ sentinels: [nobody, ...group.sentinels], name: NAME })
    const join = async (confirmMs = 5000) =>
      client.runConfirmed(JOIN, '{kumo:a}', ['token', 1000, VERSION, '{}', 8, '', ''], confirmMs)
    try {
      expect(client.replicas).toBe(1)
      expect(await join()).toMatchObject({ reply: expect.arrayContaining(['ok']), isConfirmed: true })
      // What is sent after a reconnect says nothing about what was written before it.
      const interrupted = join()
      client.reconnect()
      expect((await interrupted).isConfirmed).toBe(false)
      expect((await join()).isConfirmed).toBe(true)

      group.line.cutReplication()
      expect((await join(200)).isConfirmed).toBe(false)

      await group.primary.kill()
      await group.failedOver()
      // The new primary has no replica that could confirm anything.
      expect(await join(200)).toMatchObject({ reply: expect.arrayContaining(['ok']), isConfirmed: false })
    } finally {
      client.close()
    }
  })

  test('no Sentinel answers', async () => {
    const sentinels = [{ host: '127.0.0.1', port: await freePort() }]
    await expect(crawl({ sentinels, name: NAME })).rejects.toThrow(
      /could not connect to the server 'kumo' of the Sentinels: All sentinels are unreachable/,
    )
  })

  test('a server that has replicas confirms leases, unless it is asked not to', async () => {
    const group = await ReplicatedRedis.start({ replicas: 1, sentinels: 0 })
    close = () => group.close()
    const { port } = group.primary
    for (const [connection, replicas] of [
      [{ port }, 1],
      [{ port, replicas: 0 }, 0],
      [{ port: group.primary.port, replicas: 2 }, 2],
    ] as const) {
      const client = await connect(connection)
      client.close()
      expect(client.replicas).toBe(replicas)
    }
  })
})
