/**
 * What the graph keeps of a visited URL, as bytes. The numbers of its links are sorted; the first is stored as its distance
 * from the page's own number and the others as distances from the one before, in as few bytes as they need. Links lead
 * mostly to pages that were found at about the same time, whose numbers are near.
 */

/** What a URL turned out to be. */
export const PAGE = 1
export const BROKEN = 2
export const REDIRECT = 3

/** What `rel` says about a link, as bits. */
const NOFOLLOW = 1
const UGC = 2
const SPONSORED = 4

export interface NodeRecord {
  readonly kind: typeof PAGE | typeof BROKEN | typeof REDIRECT
  /** HTTP status; 0 if there was no response. */
  readonly status: number
  /** When it was seen, in seconds since the epoch. */
  readonly seenAt: number
  /** The numbers of the URLs that it links to, sorted; of a redirect, its target. */
  readonly links: readonly number[] | Uint32Array
  /** Links with a `rel` that matters: their places in `links`, and the bits. */
  readonly marks: readonly (readonly [place: number, bits: number])[]
  /** Why it is broken: a failure code, or empty. */
  readonly reason: string
}

/** 2020-01-01: the times of a graph fit into four or five bytes. */
const EPOCH_S = 1_577_836_800
/** The longest encoding of a number. */
const MOST_BYTES = 8

let bytes = Buffer.alloc(4096)
let at = 0

function put(value: number): void {
  while (value >= 0x80) {
    bytes[at++] = (value % 0x80) | 0x80
    value = Math.floor(value / 0x80)
  }
  bytes[at++] = value
}

/** The same for numbers below 2³¹, which most are. */
function putSmall(value: number): void {
  while (value > 0x7f) {
    bytes[at++] = (value & 0x7f) | 0x80
    value >>>= 7
  }
  bytes[at++] = value
}

/** The bytes of a record; `count` of `links` count. They are valid until the next call. */
export function encodeNode(
  own: number,
  { kind, status, seenAt, marks, reason }: Omit<NodeRecord, 'links'>,
  links: ArrayLike<number>,
  count: number,
): Buffer {
  const most = (count + 2 * marks.length + 8) * MOST_BYTES + reason.length
  if (bytes.length < most) bytes = Buffer.alloc(2 * most)
  at = 0
  bytes[at++] = kind
  put(status)
  put(Math.max(0, seenAt - EPOCH_S))
  put(count)
  if (count > 0) {
    const first = links[0]! - own
    put(first < 0 ? -2 * first - 1 : 2 * first)
    for (let i = 1, before = links[0]!; i < count; i++) {
      const next = links[i]!
      putSmall(next - before - 1)
      before = next
    }
  }
  if (kind === BROKEN) {
    put(reason.length)
    at += bytes.write(reason, at, 'latin1')
  } else if (marks.length > 0) {
    let before = -1
    for (const [place, bits] of marks) {
      put(place - before - 1)
      put(bits)
      before = place
    }
  }
  return bytes.subarray(0, at)
}

export function decodeNode(own: number, from: Uint8Array): NodeRecord {
  let at = 0
  const next = () => {
    let value = 0
    for (let scale = 1; ; scale *= 0x80) {
      const byte = from[at++]!
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }
  const kind = next() as NodeRecord['kind']
  const status = next()
  const seenAt = next() + EPOCH_S
  const links = new Uint32Array(next())
  if (links.length > 0) {
    const first = next()
    links[0] = own + (first % 2 === 1 ? -(first + 1) / 2 : first / 2)
    for (let i = 1; i < links.length; i++) links[i] = links[i - 1]! + next() + 1
  }
  let reason = ''
  const marks: [number, number][] = []
  if (kind === BROKEN) {
    const length = next()
    reason = Buffer.from(from.subarray(at, at + length)).toString('latin1')
  } else {
    for (let before = -1; at < from.length; ) {
      before += next() + 1
      marks.push([before, next()])
    }
  }
  return { kind, status, seenAt, links, marks, reason }
}

const RELS: Readonly<Record<string, number>> = { nofollow: NOFOLLOW, ugc: UGC, sponsored: SPONSORED }

/** The bits of a `rel` attribute. */
export function relBits(rel: string | undefined): number {
  if (rel === undefined || rel === '') return 0
  let bits = 0
  for (const word of rel.toLowerCase().split(/\s+/)) bits |= Object.hasOwn(RELS, word) ? RELS[word]! : 0
  return bits
}
