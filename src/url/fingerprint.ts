/**
 * A 64-bit fingerprint of a string: the seen-set keeps it instead of the URL, and it spreads hosts over partitions. Stores
 * on disk keep it too, so its values must never change (the test holds golden values).
 *
 * Two 32-bit lanes read two UTF-16 units at a time. Each lane mixes a block with its own constants and then adds the other
 * lane, so the halves are independent even if URLs differ only in a few digits. It is not a cryptographic hash: strings
 * with equal fingerprints can be constructed.
 */

const SEED_LOW = 0x3c6ef372
const SEED_HIGH = 0xa54ff53a | 0

/**
 * Writes the fingerprint of `text` to `into[at]` (low half) and `into[at + 1]` (high half). It allocates nothing and
 * accepts any string, including lone surrogates.
 */
export function fingerprint(text: string, into: Uint32Array, at = 0): void {
  const length = text.length
  const paired = length & ~1
  let low = SEED_LOW
  let high = SEED_HIGH ^ length
  let i = 0
  for (; i < paired; i += 2) {
    const block = text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16)
    let a = Math.imul(block, 0xcc9e2d51)
    a = Math.imul((a << 15) | (a >>> 17), 0x1b873593)
    low ^= a
    low = (((low << 19) | (low >>> 13)) + high) | 0
    low = (Math.imul(low, 5) + 0x561ccd1b) | 0
    let b = Math.imul(block, 0x9e3779b1)
    b = Math.imul((b << 17) | (b >>> 15), 0x85ebca77)
    high ^= b
    high = (((high << 13) | (high >>> 19)) + low) | 0
    high = (Math.imul(high, 9) + 0x38b34ae5) | 0
  }
  if (i < length) {
    const unit = text.charCodeAt(i)
    low = (Math.imul(low ^ Math.imul(unit, 0xcc9e2d51), 0x1b873593) + high) | 0
    high = (Math.imul(high ^ Math.imul(unit, 0x9e3779b1), 0x85ebca77) + low) | 0
  }
  low = (finishLow(low) + high) | 0
  high = (finishHigh(high) ^ low) | 0
  low = finishHigh(low) ^ high
  into[at] = finishLow(low)
  into[at + 1] = finishHigh(high)
}

/**
 * The same fingerprint for text given as codes, from `start` to `end`. The loop is duplicated because it runs for every
 * link: reading the codes through a function would cost more than the arithmetic.
 */
export function fingerprintCodes(
  codes: Uint8Array | Uint16Array,
  start: number,
  end: number,
  into: Uint32Array,
): void {
  const length = end - start
  const paired = start + (length & ~1)
  let low = SEED_LOW
  let high = SEED_HIGH ^ length
  let i = start
  for (; i < paired; i += 2) {
    const block = codes[i]! | (codes[i + 1]! << 16)
    let a = Math.imul(block, 0xcc9e2d51)
    a = Math.imul((a << 15) | (a >>> 17), 0x1b873593)
    low ^= a
    low = (((low << 19) | (low >>> 13)) + high) | 0
    low = (Math.imul(low, 5) + 0x561ccd1b) | 0
    let b = Math.imul(block, 0x9e3779b1)
    b = Math.imul((b << 17) | (b >>> 15), 0x85ebca77)
    high ^= b
    high = (((high << 13) | (high >>> 19)) + low) | 0
    high = (Math.imul(high, 9) + 0x38b34ae5) | 0
  }
  if (i < end) {
    const unit = codes[i]!
    low = (Math.imul(low ^ Math.imul(unit, 0xcc9e2d51), 0x1b873593) + high) | 0
    high = (Math.imul(high ^ Math.imul(unit, 0x9e3779b1), 0x85ebca77) + low) | 0
  }
  low = (finishLow(low) + high) | 0
  high = (finishHigh(high) ^ low) | 0
  low = finishHigh(low) ^ high
  into[0] = finishLow(low)
  into[1] = finishHigh(high)
}

/** The fingerprint as 16 hexadecimal digits. */
export function fingerprintText(text: string): string {
  const print = new Uint32Array(2)
  fingerprint(text, print)
  return hex(print[1]!) + hex(print[0]!)
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0')
}

/** Bijective on 32 bits; each input bit flips each output bit with a probability of about one half. */
function finishLow(x: number): number {
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d)
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b)
  return x ^ (x >>> 16)
}

/** The same with other constants, so that equal lanes do not stay equal. */
function finishHigh(x: number): number {
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return x ^ (x >>> 16)
}
