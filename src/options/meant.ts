/** What somebody probably meant, as the end of an error message: an empty text if there is nothing to suggest. */

import { byHost } from '../partition/by-host.js'
import { level } from '../stores/level/level.js'
import { memory } from '../stores/memory.js'

/** A folder, or a function that makes a store, in place of a store. */
export function meantStore(given: unknown): string {
  if (given === memory || given === 'memory') return didYouMean('.store(memory())')
  if (given === level || given === 'level') return didYouMean(".store(level('./crawl'))")
  // A URL names a database that Kumo has no store for.
  if (typeof given !== 'string' || given.trim() === '' || given.includes('://')) return ''
  return didYouMean(`.store(level('${given}'))`)
}

export function meantPartitioner(given: unknown): string {
  return given === byHost || given === 'host' ? didYouMean('.partitioner(byHost())') : ''
}

/** A selector in place of a function of the page. */
export function meantField(field: string, given: unknown): string {
  return typeof given === 'string' ? didYouMean(`.extract(select({ ${field}: '${given}' }))`) : ''
}

/** An address in place of `{ servers }`. */
export function meantServers(given: unknown): string {
  const servers = typeof given === 'string' ? [given] : given
  const isList = Array.isArray(servers) && servers.every((each) => typeof each === 'string')
  return isList ? didYouMean(`.dns({ servers: [${servers.map((each) => `'${each}'`).join(', ')}] })`) : ''
}

/** A number in place of an object with this key. */
export function meantKey(option: string, given: unknown, key: string): string {
  return typeof given === 'number' ? didYouMean(`.${option}({ ${key}: ${given} })`) : ''
}

function didYouMean(code: string): string {
  return `; did you mean ${code}`
}
