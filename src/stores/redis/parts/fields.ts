/** How a record is named in a hash: by its space, its host and its key. */

import { KumoError } from '../../../errors.js'

const NUL = '\0'

export function checkSpace(name: string): void {
  if (!name.includes(NUL)) return
  const message = `the name of a state space must not contain NUL: ${JSON.stringify(name)}`
  throw new KumoError('KUMO_INVALID_OPTION', message)
}

/** What the fields of a space begin with. */
export function prefixOf(space: string): string {
  return space + NUL
}

export function fieldOf(prefix: string, key: string, host: string | undefined): string {
  return `${prefix}${host ?? ''}${NUL}${key}`
}

/** The key in a field: what comes after the space and the host. */
export function nameIn(field: string): string {
  return field.slice(field.indexOf(NUL, field.indexOf(NUL) + 1) + 1)
}

/** Characters that a pattern of Redis would take for something else. */
export function escaped(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&')
}

/** The fields and values of a hash, as Redis answers with them. */
export function* pairsIn(flat: readonly Buffer[]): Generator<readonly [field: string, value: string]> {
  for (let i = 0; i < flat.length; i += 2) yield [flat[i]!.toString(), flat[i + 1]!.toString()]
}
