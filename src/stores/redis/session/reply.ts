/** The replies of the scripts as values. */

/** What every accepted call says about the crawl. */
export interface CrawlStatus {
  readonly seq: number
  /** Requests and letters that are left, wherever they are. */
  readonly left: number
  /** Nothing is left, and every node rests. */
  readonly isOver: boolean
  readonly nodes: number
  /** Partitions that nobody owns. */
  readonly free: number
  readonly pages: number
  readonly requests: number
  readonly bytes: number
  /** Shares of the limits that nodes hold and have not used yet. */
  readonly sharedPages: number
  readonly sharedRequests: number
  /** URLs that nodes have added so far while the crawl runs. */
  readonly seeds: number
  /** Documents left to other nodes that nobody has taken yet, and the bytes of all that are not done. */
  readonly waiting: number
  readonly workBytes: number
  /** Partitions of this node with letters from others. */
  readonly mail: readonly number[]
  /** After a commit: the shares that this node holds. */
  readonly pageShare: number
  readonly requestShare: number
}

/**
 * Why a call was refused. `fenced`: the others have evicted the node. `behind`: the server has lost commits. `reborn`: it
 * was restarted or failed over, and its history contains this one up to `base`.
 */
export type Refusal =
  | { readonly refused: 'fenced' }
  | { readonly refused: 'behind' }
  | { readonly refused: 'reborn'; readonly base: number; readonly run: string }

/** Others own the node's partitions, or the server has lost what the node knows. */
export interface Loss {
  readonly reason: string
  /** Nobody else had the node's partitions until now. */
  readonly wasAlone: boolean
  /** The last commit that the server still has: infinite if it has all. */
  readonly base: number
}

/** What a node that has joined is, and what it found. */
export interface Joined {
  readonly id: string
  readonly token: string
  /** Other nodes. */
  readonly others: number
  /** Runs so far, with this one. */
  readonly runs: number
}

/** Partitions that a node has taken. */
export interface Claimed {
  /** True: its last owner was evicted. */
  readonly partitions: ReadonlyMap<number, boolean>
  /** For so long, a node that this history does not know may visit hosts of these partitions. */
  readonly waitMs: number
}

export function refusalIn(reply: readonly string[]): Refusal | undefined {
  const [what, base, run] = reply
  if (what === 'ok') return undefined
  if (what === 'reborn') return { refused: 'reborn', base: Number(base), run: run! }
  return { refused: what === 'behind' ? 'behind' : 'fenced' }
}

export function statusIn(reply: readonly string[]): CrawlStatus {
  const [
    ,
    seq,
    left,
    over,
    nodes,
    free,
    pages,
    requests,
    bytes,
    sharedPages,
    sharedRequests,
    seeds,
    waiting,
    workBytes,
    mail,
    ...shares
  ] = reply
  return {
    seq: Number(seq),
    left: Number(left),
    isOver: over === '1',
    nodes: Number(nodes),
    free: Number(free),
    pages: Number(pages),
    requests: Number(requests),
    bytes: Number(bytes),
    sharedPages: Number(sharedPages),
    sharedRequests: Number(sharedRequests),
    seeds: Number(seeds),
    waiting: Number(waiting),
    workBytes: Number(workBytes),
    mail: mail ? mail.split(' ').map(Number) : [],
    pageShare: Number(shares[0] ?? 0),
    requestShare: Number(shares[1] ?? 0),
  }
}
