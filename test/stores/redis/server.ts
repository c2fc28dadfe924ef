/**
 * A Redis server of Debian's package, on loopback, for tests. It is installed if it is missing and the machine allows that;
 * otherwise the tests say why they skip.
 */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let reason: string | undefined | null = null

/** Why there is no Redis on this machine; undefined if there is one. */
export function whyNoRedis(): string | undefined {
  if (reason === null) reason = findRedis()
  return reason
}

function findRedis(): string | undefined {
  if (hasRedis()) return undefined
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'redis-server is not installed, and only root can install it: apt-get install redis-server redis-sentinel'
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [
    ['update'],
    ['install', '-y', '--no-install-recommends', 'redis-server', 'redis-sentinel'],
  ]) {
    // Several test processes may install at once; the lock of apt lets one after the other.
    spawnSync('apt-get', ['-o', 'DPkg::Lock::Timeout=120', ...args], { env: environment, stdio: 'ignore' })
    if (hasRedis()) return undefined
  }
  return 'redis-server is not installed, and apt-get could not install it'
}

function hasRedis(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

export interface ServerOptions {
  /** More lines of its configuration, e.g. `['--appendonly', 'yes']`. */
  readonly args?: readonly string[]
  /** Default: a free one. */
  readonly port?: number
}

/** A server that can be killed, frozen and started again with its data. */
export class RedisServer {
  readonly port: number
  readonly folder: string
  readonly #args: readonly string[]
  #process: ChildProcess | undefined

  private constructor(port: number, args: readonly string[]) {
    this.port = port
    this.folder = mkdtempSync(join(tmpdir(), 'kumo-redis-'))
    this.#args = args
  }

  static async start({ args = [], port }: ServerOptions = {}): Promise<RedisServer> {
    const server = new RedisServer(port ?? (await freePort()), args)
    await server.start()
    return server
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  get pid(): number {
    return this.#process!.pid!
  }

  async start(): Promise<void> {
    const given = ['--port', String(this.port), '--dir', this.folder, '--save', '', '--bind', '127.0.0.1']
    const child = spawn('redis-server', [...given, ...this.#args], { stdio: ['ignore', 'pipe', 'ignore'] })
    this.#process = child
    await new Promise<void>((resolve, reject) => {
      let output = ''
      child.stdout!.on('data', (chunk) => {
        output += chunk
        if (/Ready to accept connections/.test(output)) resolve()
      })
      child.once('exit', () => reject(new Error(`redis-server ended: ${output.slice(-500)}`)))
    })
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal)
  }

  /** Ends at once, without a chance to write anything. */
  async kill(): Promise<void> {
    const child = this.#process
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await gone
  }

  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
