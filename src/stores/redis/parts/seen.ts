import { SLOT_WORDS } from '../../../seen/slabs.js'

/** The fingerprints of a partition, from the elements of its list. */
export function printsIn(elements: readonly Uint8Array[]): Uint32Array {
  const bytes = elements.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const prints = new Uint32Array(Math.floor(bytes / (SLOT_WORDS * 4)) * SLOT_WORDS)
  const into = new Uint8Array(prints.buffer)
  let at = 0
  for (const element of elements) {
    into.set(element.subarray(0, into.length - at), at)
    at += element.byteLength
  }
  return prints
}
