/**
 * A real PostgreSQL server on loopback, from Debian's packages: installed if it is missing and the tests may do that. It
 * can be killed without warning and started again.
 */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

const DEBIAN = '/usr/lib/postgresql'
const USER = 'kumo'

/** The folder with the server's programs, or why there is none. */
export function findPostgres(): { readonly bin: string } | { readonly reason: string } {
  const found = debianPrograms()
  if (found !== undefined) return { bin: found }
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    return {
      reason:
        'PostgreSQL is not installed, and only root on Debian can install it: apt-get install postgresql',
    }
  }
  const apt = (...args: string[]) =>
    spawnSync('apt-get', [...args, '-qq', '-y'], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      timeout: 300_000,
    })
  if (apt('install', '--no-install-recommends', 'postgresql').status !== 0) {
    apt('update')
    apt('install', '--no-install-recommends', 'postgresql')
  }
  const installed = debianPrograms()
  return installed === undefined ? { reason: 'apt-get install postgresql failed' } : { bin: installed }
}

function debianPrograms(): string | undefined {
  if (!existsSync(DEBIAN)) return undefined
  const versions = readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a))
  return versions
    .map((version) => join(DEBIAN, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'postgres')))
}

export class PostgresServer {
  readonly #bin: string
  readonly #folder: string
  readonly #port: number
  readonly #owner: { uid?: number; gid?: number }
  #process: ChildProcess | undefined = undefined

  private constructor(bin: string, folder: string, port: number, owner: { uid?: number; gid?: number }) {
    this.#bin = bin
    this.#folder = folder
    this.#port = port
    this.#owner = owner
  }

  static async create(bin: string): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'kumo-postgres-'))
    // The server refuses to run as root.
    const owner = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {}
    if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid)
    const args = ['-D', join(folder, 'data'), '-U', USER, '-A', 'trust', '-E', 'UTF8', '--no-locale', '-N']
    execFileSync(join(bin, 'initdb'), args, { ...owner, cwd: folder, stdio: 'pipe' })
    const server = new PostgresServer(bin, folder, await freePort(), owner)
    await server.start()
    return server
  }

  get url(): string {
    return `postgres://${USER}@127.0.0.1:${this.#port}/postgres`
  }

  /** Resolves once it answers. After a kill the remains of the last one may be in its way for a while. */
  async start(): Promise<void> {
    const settings = ['listen_addresses=127.0.0.1', 'fsync=off', 'shared_buffers=16MB', 'max_connections=20']
    for (;;) {
      if (this.#process === undefined || this.#process.exitCode !== null) {
        this.#process = spawn(
          join(this.#bin, 'postgres'),
          ['-D', join(this.#folder, 'data'), '-k', this.#folder, '-p', String(this.#port)].concat(
            settings.flatMap((setting) => ['-c', setting]),
          ),
          { ...this.#owner, cwd: this.#folder, stdio: 'ignore' },
        )
      }
      try {
        await this.query('SELECT 1')
        return
      } catch {
        await pause(50)
      }
    }
  }

  async query<Row>(text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.url })
    client.on('error', () => {})
    try {
      await client.connect()
      return (await client.query(text)).rows as Row[]
    } finally {
      await client.end().catch(() => {})
    }
  }

  /** Without warning. */
  async kill(): Promise<void> {
    const running = this.#process
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
    const gone = new Promise((resolve) => running.once('exit', resolve))
    running.kill('SIGKILL')
    await gone
    this.#process = undefined
  }

  async remove(): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
}

function idOf(which: '-u' | '-g'): number {
  return Number(execFileSync('id', [which, 'postgres'], { encoding: 'utf8' }))
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}
