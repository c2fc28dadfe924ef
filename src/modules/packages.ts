/**
 * Which file a package's name means. Node.js answers that for the file that imports, which here would be one of Kumo's
 * own; what is asked is what the user's program would get. So it is looked for from there, the way Node.js does it for
 * `import`: https://nodejs.org/api/esm.html#resolution-algorithm-specification
 */

import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A name, with its scope if it has one, and maybe a path in the package. Neither a path nor a URL. */
const PACKAGE = /^((?:@[^/\\%:]+\/)?[^@./\\%:][^/\\%:]*)(\/.+)?$/

/** The conditions of package.json under which Node.js imports. */
const CONDITIONS: ReadonlySet<string> = new Set(['node', 'import', 'default'])

export function isPackageName(text: string): boolean {
  return PACKAGE.test(text)
}

/** Where the main program stands, and where it was started. */
export function mainFolders(): string[] {
  const [, script] = process.argv
  const folders = [process.cwd()]
  // The command of a package is a link into its folder.
  if (script !== undefined && existsSync(script)) folders.unshift(dirname(realpathSync(script)))
  return [...new Set(folders)]
}

/**
 * The URL of the file that `import name` would load in a program in one of these folders; undefined if there is none.
 *
 * @example
 * packageUrl('undici', [process.cwd()]) // 'file:///…/node_modules/undici/index.js'
 */
export function packageUrl(name: string, folders: readonly string[]): string | undefined {
  const [, bare, path = ''] = PACKAGE.exec(name) ?? []
  if (bare === undefined) return undefined
  for (const folder of folders) {
    const file =
      itself(folder, bare, `.${path}`) ?? installed(folder, bare, `.${path}`) ?? asRequired(folder, name)
    if (file !== undefined) return pathToFileURL(file).href
  }
  return undefined
}

/** A package may mean itself, if it says what it exports. */
function itself(folder: string, name: string, path: string): string | undefined {
  const home = upwards(folder).find((at) => existsSync(join(at, 'package.json')))
  if (home === undefined) return undefined
  const manifest = manifestOf(home)
  return manifest.name === name && manifest.exports ? entry(home, manifest, path) : undefined
}

function installed(folder: string, name: string, path: string): string | undefined {
  const homes = upwards(folder).map((at) => join(at, 'node_modules', name))
  const home = homes.find((at) => existsSync(join(at, 'package.json')))
  return home === undefined ? undefined : entry(home, manifestOf(home), path)
}

/** The folder, the one it is in, and so on to the root. */
function upwards(folder: string): string[] {
  const above = dirname(folder)
  return above === folder ? [folder] : [folder, ...upwards(above)]
}

interface Manifest {
  readonly name?: unknown
  readonly main?: unknown
  readonly exports?: unknown
}

function manifestOf(home: string): Manifest {
  return JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as Manifest
}

/** Package managers without node_modules are known to `require` only. */
function asRequired(folder: string, name: string): string | undefined {
  try {
    const file = createRequire(join(folder, 'main.js')).resolve(name)
    return existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}

function entry(home: string, { exports, main }: Manifest, path: string): string | undefined {
  if (exports !== undefined && exports !== null) {
    const file = exported(exports, path)
    return file === undefined ? undefined : join(home, file)
  }
  if (path !== '.') return existing([join(home, path)])
  const named = typeof main === 'string' ? [main, `${main}.js`, join(main, 'index.js')] : []
  return existing([...named, 'index.js'].map((file) => join(home, file)))
}

function existing(files: readonly string[]): string | undefined {
  return files.find((file) => /\.\w+$/.test(file) && existsSync(file))
}

function exported(exports: unknown, path: string): string | undefined {
  const paths = hasPaths(exports) ? exports : { '.': exports }
  if (Object.hasOwn(paths, path)) return chosen(paths[path], '')
  // Of the patterns that fit, the one that says most before its star.
  const patterns = Object.keys(paths).sort((a, b) => b.indexOf('*') - a.indexOf('*'))
  for (const pattern of patterns) {
    const [before, after = ''] = pattern.split('*')
    if (!pattern.includes('*') || !path.startsWith(before!) || !path.endsWith(after)) continue
    if (path.length > pattern.length - 1) {
      return chosen(paths[pattern], path.slice(before!.length, path.length - after.length))
    }
  }
  return undefined
}

function hasPaths(exports: unknown): exports is Record<string, unknown> {
  if (typeof exports !== 'object' || exports === null || Array.isArray(exports)) return false
  return Object.keys(exports).some((key) => key.startsWith('.'))
}

/** The first that Node.js would take. */
function chosen(target: unknown, star: string): string | undefined {
  if (typeof target === 'string') return target.replaceAll('*', star)
  if (typeof target !== 'object' || target === null) return undefined
  for (const [key, value] of Object.entries(target)) {
    if (!Array.isArray(target) && !CONDITIONS.has(key)) continue
    const found = chosen(value, star)
    if (found !== undefined) return found
  }
  return undefined
}
