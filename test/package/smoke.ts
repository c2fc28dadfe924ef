/** Runs programs with the packed package on some Node.js, and says what is wrong with their results. */

import { execFile } from 'node:child_process'
import { copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual, promisify } from 'node:util'
import ts from 'typescript'
import { APP, APP_WITH_UNDICI_8 } from './place.js'
import { NODES, NODES_FOR_UNDICI_8, nodeBinary, undici8 } from './runtimes.js'

/** Long enough for a slow machine: only a program that hangs is ended. */
const HANGS_AFTER_MS = 120_000

/** Copies programs, and files that they need, to where the package is installed. */
export function bring(...names: string[]): void {
  bringTo(APP, ...names)
}

function bringTo(app: string, ...names: string[]): void {
  for (const name of names)
    copyFileSync(fileURLToPath(new URL(name, import.meta.url)), join(app, basename(name)))
}

/** Everything that a program prints, and its exit code. */
export async function run(binary: string, args: readonly string[], cwd = APP) {
  // What vitest sets for itself is not meant for the program.
  const { NODE_OPTIONS: _, ...env } = process.env
  const options = { cwd, env, timeout: HANGS_AFTER_MS }
  try {
    return { code: 0, ...(await promisify(execFile)(binary, [...args], options)) }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number | null; stdout: string; stderr: string }
    return { code, stdout, stderr }
  }
}

/** A part of the smoke suite: resolves with one line for each thing that is wrong. */
export type SmokeTest = (node: string) => Promise<string[]>

const TITLES = ['done', 'page /', 'page /a', 'page /b', 'page /c/d']
const CRAWLS = 13

function crawls(format: 'import' | 'require', app = APP): SmokeTest {
  return async (node) => {
    bringTo(app, 'smoke.mjs', 'heading.mjs')
    const { code, stdout, stderr } = await run(node, ['smoke.mjs', format], app)
    if (code !== 0) return [`it exited with ${code}: ${stderr}`]
    const { found, errors } = JSON.parse(stdout) as Record<string, Record<string, unknown>>
    const runs = Object.entries(found!)
    const wrong = runs
      .filter(([, titles]) => !isDeepStrictEqual(titles, TITLES))
      .map(([name, titles]) => `${name}: ${titles}`)
    const expected = { kumo: true, conformance: true, sim: true, both: true, others: false }
    const strange = Object.entries(expected)
      .filter(([entry, isKumoError]) => errors![entry] !== isKumoError)
      .map(([entry, isKumoError]) => `an error of ${entry}: expected instanceof KumoError ${isKumoError}`)
    return [
      ...wrong,
      ...strange,
      ...(runs.length === CRAWLS ? [] : [`${runs.length} crawls instead of ${CRAWLS}`]),
    ]
  }
}

/** Compiled, because Node.js does not strip types below node_modules, and the oldest versions do not at all. */
const typescript: SmokeTest = async (node) => {
  const source = readFileSync(new URL('typed.mts', import.meta.url), 'utf8')
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext }
  writeFileSync(join(APP, 'typed.mjs'), ts.transpileModule(source, { compilerOptions }).outputText)
  const { stdout, stderr } = await run(node, ['typed.mjs'])
  return stdout.trim() === '["done","typed","3"]' ? [] : [`it printed ${stdout}${stderr}`]
}

const PROTOCOLS = {
  http1: '/, /next',
  https: 'HTTP/1.1',
  http2: 'HTTP/2.0',
  forwarded: 'forwarded',
  refused: 'proxy-failed',
  tunnelled: 'HTTP/2.0',
  proxied: 'GET, CONNECT',
}

function protocols(app: string, undici: string): SmokeTest {
  return async (node) => {
    const certificates = ['ca.pem', 'server.pem', 'server.key'].map((name) => `../fetch/certificates/${name}`)
    bringTo(app, 'protocols.mjs', ...certificates)
    const { stdout, stderr } = await run(node, ['protocols.mjs'], app)
    if (stdout === '') return [`it printed nothing: ${stderr}`]
    const { undici: version, found } = JSON.parse(stdout) as Record<string, string>
    const isRight = version!.startsWith(undici) && isDeepStrictEqual(found, PROTOCOLS)
    return isRight ? [] : [`it printed ${stdout}${stderr}`]
  }
}

const ON_EVERY_NODE: Readonly<Record<string, SmokeTest>> = {
  'as a module': crawls('import'),
  'as CommonJS': crawls('require'),
  'in TypeScript': typescript,
  'over every protocol': protocols(APP, '7.'),
}

const WITH_UNDICI_8: Readonly<Record<string, SmokeTest>> = {
  'as a module, with undici 8': crawls('import', APP_WITH_UNDICI_8),
  'over every protocol, with undici 8': protocols(APP_WITH_UNDICI_8, '8.'),
}

/** Every change runs one format on these, and both on the others; `npm run test:nodes` runs both on all of them. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  '22.11.0': ['as a module', 'in TypeScript'],
  '22': ['as CommonJS'],
  '24': ['as a module', 'as a module, with undici 8', 'over every protocol, with undici 8'],
  '26': ['as CommonJS'],
}

/** The smoke suite for a version of Node.js, by the names of its parts. */
export function smokeTests(version: string, isSample = false): [name: string, test: SmokeTest][] {
  const more = NODES_FOR_UNDICI_8.includes(version) ? WITH_UNDICI_8 : {}
  const leftOut = (isSample && LEFT_OUT[version]) || []
  return Object.entries({ ...ON_EVERY_NODE, ...more }).filter(([name]) => !leftOut.includes(name))
}

/** Downloads what the suite needs. @throws if the registry cannot be reached. */
export async function prepare(): Promise<ReadonlyMap<string, string>> {
  const binaries = new Map<string, string>()
  for (const version of NODES) binaries.set(version, await nodeBinary(version))
  const undici = await undici8()
  rmSync(APP_WITH_UNDICI_8, { recursive: true, force: true })
  cpSync(APP, APP_WITH_UNDICI_8, { recursive: true })
  cpSync(undici, join(APP_WITH_UNDICI_8, 'node_modules/undici'), { recursive: true })
  return binaries
}
