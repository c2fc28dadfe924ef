/**
 * Resolves the name of a package to a file. `import.meta.resolve` would resolve it from Kumo's own files; the user means
 * what their program would import. So this starts at the program and follows the resolution of Node.js:
 * https://nodejs.org/api/esm.html#resolution-algorithm-specification
 */

import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A name, optionally with a scope and a path inside the package. Neither a file path nor a URL. */
const PACKAGE = /^((?:@[^/\\%:]+\/)?[^@./\\%:][^/\\%:]*)(\/.+)?$/

/** The conditions in package.json that apply to `import` in Node.js. */
const CONDITIONS: ReadonlySet<string> = new Set(['node', 'import', 'default'])

export function isPackageName(text: string): boolean {
  return PACKAGE.test(text)
}

/** The folder of the main program, and the working directory. */
export function mainFolders(): string[] {
  const [, script] = process.argv
  const folders = [process.cwd()]
  // The command of an installed package is a symbolic link into its folder.
  if (script !== undefined && existsSync(script)) folders.unshift(dirname(realpathSync(script)))
  return [...new Set(folders)]
}

/**
 * The URL of the file that `import name` would load in a program in one of these folders; undefined if not found.
 *
 * @example
 * packageUrl('undici', [process.cwd()]) // 'file:///…/node_modules/undici/index.js'
 */
export function packageUrl(name: string, folders: readonly string[]): string | undefined {
  const [, bare, path = ''] = PACKAGE.exec(name) ?? []
  if (bare === undefined) return undefined
  for (const folder of folders) {
    const file =
      fromSelf(folder, bare, `.${path}`) ??
      fromNodeModules(folder, bare, `.${path}`) ??
      fromRequire(folder, name)
    if (file !== undefined) return pathToFileURL(file).href
  }
  return undefined
}

/** A package can import itself by name if it has `exports`. */
function fromSelf(folder: string, name: string, path: string): string | undefined {
  const home = ancestors(folder).find((at) => existsSync(join(at, 'package.json')))
  if (home === undefined) return undefined
  const manifest = manifestOf(home)
  return manifest.name === name && manifest.exports ? entry(home, manifest, path) : undefined
}

function fromNodeModules(folder: string, name: string, path: string): string | undefined {
  const homes = ancestors(folder).map((at) => join(at, 'node_modules', name))
  const home = homes.find((at) => existsSync(join(at, 'package.json')))
  return home === undefined ? undefined : entry(home, manifestOf(home), path)
}

/** The folder, its parent, and so on up to the root. */
function ancestors(folder: string): string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...ancestors(parent)]
}

interface Manifest {
  readonly name?: unknown
  readonly main?: unknown
  readonly exports?: unknown
}

function manifestOf(home: string): Manifest {
  return JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as Manifest
}

/** Package managers without node_modules extend `require` only. */
function fromRequire(folder: string, name: string): string | undefined {
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
  if (Object.hasOwn(paths, path)) return targetFile(paths[path], '')
  // Of the patterns that match, the one with the longest prefix wins.
  const patterns = Object.keys(paths).sort((a, b) => b.indexOf('*') - a.indexOf('*'))
  for (const pattern of patterns) {
    const [before, after = ''] = pattern.split('*')
    if (!pattern.includes('*') || !path.startsWith(before!) || !path.endsWith(after)) continue
    if (path.length > pattern.length - 1) {
      return targetFile(paths[pattern], path.slice(before!.length, path.length - after.length))
    }
  }
  return undefined
}

function hasPaths(exports: unknown): exports is Record<string, unknown> {
  if (typeof exports !== 'object' || exports === null || Array.isArray(exports)) return false
  return Object.keys(exports).some((key) => key.startsWith('.'))
}

/** The first target whose conditions apply, as Node.js picks it. */
function targetFile(target: unknown, star: string): string | undefined {
  if (typeof target === 'string') return target.replaceAll('*', star)
  if (typeof target !== 'object' || target === null) return undefined
  for (const [key, value] of Object.entries(target)) {
    if (!Array.isArray(target) && !CONDITIONS.has(key)) continue
    const found = targetFile(value, star)
    if (found !== undefined) return found
  }
  return undefined
}
