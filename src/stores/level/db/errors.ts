/** Converts errors of the database into errors that a user can act on. */

import { KumoError, messageOf, sentence } from '../../../errors.js'

/** While a database is being reopened, its readers find it closed. */
const CLOSED: ReadonlySet<unknown> = new Set(['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_ITERATOR_NOT_OPEN'])

/** A database file is missing or empty: that is damage, not a disk error that passes. */
const MISSING_FILE = /^IO error: .*(No such file or directory|Invalid argument)/

/** Disk errors that may pass. LevelDB reports them as text. */
export function isDiskError(error: unknown): boolean {
  return (
    !isDamage(error) &&
    causes(error).some(
      ({ code, message }) => code === 'LEVEL_IO_ERROR' || CLOSED.has(code) || /^IO error/i.test(message),
    )
  )
}

/** Closed, temporarily or for good. */
export function isClosed(error: unknown): boolean {
  return causes(error).some(({ code }) => CLOSED.has(code))
}

function isDamage(error: unknown): boolean {
  return causes(error).some(({ code, message }) => code === 'LEVEL_CORRUPTION' || MISSING_FILE.test(message))
}

export function openError(path: string, error: unknown): KumoError {
  return isLocked(error) ? locked(path, error) : toStoreError(path, error)
}

export function isLocked(error: unknown): boolean {
  return causes(error).some(({ code }) => code === 'LEVEL_LOCKED')
}

export function locked(path: string, cause?: unknown): KumoError {
  const message =
    `${path} is in use by another crawl; wait until it ends, stop it, or choose another folder ` +
    '(to inspect a running crawl: kumo inspect)'
  return new KumoError('KUMO_STORE_LOCKED', message, { cause })
}

export function toStoreError(path: string, error: unknown): KumoError {
  if (error instanceof KumoError) return error
  const message = causes(error).at(-1)?.message ?? messageOf(error)
  if (isDamage(error)) return damaged(path, message, error)
  return new KumoError('KUMO_STORE_FAILED', `the level store at ${path}: ${message}`, { cause: error })
}

export function noCrawl(path: string): KumoError {
  return new KumoError('KUMO_STORE_RESUME', `${path} holds no crawl; check the path`)
}

/** The folder no longer exists, or has been replaced. */
export function folderGone(path: string): KumoError {
  const message =
    `${path} was deleted, moved or replaced while the crawl was running, so nothing more can be stored. ` +
    'Put the folder back, or start again in a new one'
  return new KumoError('KUMO_STORE_FAILED', message)
}

/** For a folder whose contents cannot be trusted. */
export function damaged(path: string, problem: string, cause?: unknown): KumoError {
  const message =
    `the crawl in ${path} is damaged: ${sentence(problem)} Restore the folder from a backup, start again in another folder, or resume ` +
    'with what can be recovered: level(path, { repair: true })'
  return new KumoError('KUMO_STORE_DAMAGED', message, { cause })
}

function causes(error: unknown): { code: unknown; message: string }[] {
  const found: { code: unknown; message: string }[] = []
  for (let at = error; at instanceof Error; at = at.cause) {
    found.push({ code: (at as { code?: unknown }).code, message: at.message })
  }
  return found
}
