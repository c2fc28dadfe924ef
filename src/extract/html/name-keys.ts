/** Tag and attribute names as numbers, so that a name can be looked up without making a string of it. */

import { isLetter } from './characters.js'

/**
 * The key of a name that continues with `code`; letter case is ignored. Every character changes all bits of the key, so
 * no two names in our tables share one, and an unknown name hardly ever has the key of a known one.
 */
export function extendKey(key: number, code: number): number {
  return (Math.imul(key ^ (isLetter(code) ? code | 0x20 : code), 0x9e3779b1) ^ (key >>> 15)) | 0
}

/** The key of a whole name. */
export function keyOf(name: string): number {
  let key = 0
  for (let at = 0; at < name.length; at++) key = extendKey(key, name.charCodeAt(at))
  return key
}
