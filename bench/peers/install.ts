/**
 * The peers, installed into a folder of their own beside the checkout's: nothing of them is in package.json. Each takes its
 * seeds and its concurrency as arguments. What cannot be installed is left out, with the reason.
 */

import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A crawler as a program: it ends when it has found nothing new. */
export interface Peer {
  readonly name: string
  readonly command: string
  readonly args: (seeds: readonly string[], concurrency: number) => readonly string[]
  readonly env: Readonly<Record<string, string>>
}

const FOLDER = join(tmpdir(), 'kumo-bench-peers')
const DEBIAN = join(FOLDER, 'debian')
const LIBRARIES = ['usr/lib', 'usr/lib/x86_64-linux-gnu', 'usr/lib/aarch64-linux-gnu']
const INSTALL_MS = 300_000
/** Kumo as a program too. It is not copied: it is the build of this checkout. */
const KUMO = fileURLToPath(new URL('kumo.mjs', import.meta.url))
const FROM_NPM = [
  { name: 'Crawlee (Cheerio)', packages: ['@crawlee/cheerio'], script: 'crawlee.mjs' },
  { name: 'node-crawler', packages: ['crawler'], script: 'node-crawler.mjs' },
  { name: 'spider-rs', packages: ['@spider-rs/spider-rs'], script: 'spider.mjs' },
] as const

/** Installs what is missing. */
export function installPeers(): readonly Peer[] {
  mkdirSync(FOLDER, { recursive: true })
  const peers: Peer[] = [script('Kumo', KUMO)]
  for (const { name, packages, script: file } of FROM_NPM)
    attempt(peers, name, () => fromNpm(name, packages, file))
  attempt(peers, 'wget2', wget2)
  attempt(peers, 'Scrapy', scrapy)
  return peers
}

function attempt(peers: Peer[], name: string, install: () => Peer): void {
  try {
    peers.push(install())
  } catch (error) {
    const told = String((error as { stderr?: string }).stderr || error)
    const reason = /^(?:Error|E|npm error).*$/m.exec(told)?.[0] ?? told.split('\n')[0]
    console.log(`  ${name} could not be installed and is left out: ${reason}`)
  }
}

function run(command: string, args: readonly string[], options: object = {}): string {
  return execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe', timeout: INSTALL_MS, ...options })
}

function script(name: string, file: string): Peer {
  const args = (seeds: readonly string[], concurrency: number) => [file, String(concurrency), ...seeds]
  return { name, command: process.execPath, args, env: {} }
}

function fromNpm(name: string, packages: readonly string[], file: string): Peer {
  const folder = join(FOLDER, file.replace('.mjs', ''))
  if (!existsSync(join(folder, 'node_modules', packages[0]!))) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], { cwd: folder })
  }
  // Where its imports are found.
  const copy = join(folder, file)
  copyFileSync(fileURLToPath(new URL(file, import.meta.url)), copy)
  const peer = script(name, copy)
  // Some packages lack their native part on some systems.
  run(process.execPath, ['--input-type=module', '-e', `await import('${packages[0]}')`], { cwd: folder })
  return peer
}

function wget2(): Peer {
  const env = debian('wget2')
  const command = join(DEBIAN, 'wget2/usr/bin/wget2')
  run(command, ['--version'], { env: { ...process.env, ...env } })
  const args = (seeds: readonly string[], concurrency: number) =>
    ['-q', '-r', '-l', '0', '-O', '/dev/null', `--max-threads=${concurrency}`].concat(seeds)
  return { name: 'wget2 (C)', command, args, env }
}

function scrapy(): Peer {
  const env = {
    ...debian('python3-scrapy'),
    PYTHONPATH: join(DEBIAN, 'python3-scrapy/usr/lib/python3/dist-packages'),
  }
  run('/usr/bin/python3', ['-c', 'import scrapy'], { env: { ...process.env, ...env } })
  const file = fileURLToPath(new URL('sites_spider.py', import.meta.url))
  const args = (seeds: readonly string[], concurrency: number) => [file, String(concurrency), ...seeds]
  return { name: 'Scrapy (Python)', command: '/usr/bin/python3', args, env }
}

/** Debian's packages, unpacked and not installed. Returns the environment for them. */
function debian(name: string): Record<string, string> {
  const folder = join(DEBIAN, name)
  if (!existsSync(folder)) {
    const archives = join(FOLDER, 'archives', name)
    mkdirSync(archives, { recursive: true })
    const needed = run('apt-get', ['install', '-s', '--no-install-recommends', name])
    const packages = [...needed.matchAll(/^Inst (\S+)/gm)].map(([, each]) => each!)
    run('apt-get', ['download', '-qq', ...packages], { cwd: archives })
    mkdirSync(folder, { recursive: true })
    for (const each of readdirSync(archives)) run('dpkg', ['-x', join(archives, each), folder])
  }
  return { LD_LIBRARY_PATH: LIBRARIES.map((each) => join(folder, each)).join(':') }
}
