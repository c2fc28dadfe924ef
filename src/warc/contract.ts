/** Reads one file, or all files of a folder, as records. What cannot be read is reported as damage and skipped. */
export type WarcEntry = WarcRecord | WarcDamage

/** A record of a WARC or ARC file. */
export interface WarcRecord {
  readonly ok: true
  /** `response`, `request`, `revisit`, `warcinfo`, `resource`, `metadata`, `conversion`, … */
  readonly type: string
  /** Without its angle brackets; undefined in ARC files. */
  readonly id: string | undefined
  /** `WARC-Target-URI`. */
  readonly url: string | undefined
  /** When it was captured, in ms since the epoch; undefined if the date cannot be read. */
  readonly date: number | undefined
  /** The fields of the record, with names in lower case. */
  readonly fields: ReadonlyMap<string, string>
  /** The content, as it is in the file. */
  readonly block: Uint8Array
  /** The block as an HTTP message; undefined if it is none. */
  readonly http: HttpMessage | undefined
  /** `WARC/1.1`, `WARC/1.0`, `ARC/1.0`, … */
  readonly version: string
  /** What is wrong with the record, although it could be read; empty if nothing is. */
  readonly problems: readonly string[]
  readonly file: string
  /** Where the record begins in the file, and how many bytes it takes there, compressed if the file is. */
  readonly offset: number
  readonly length: number
}

/** Bytes of a file that are no record, or none that can be read. Reading goes on behind them. */
export interface WarcDamage {
  readonly ok: false
  readonly message: string
  readonly file: string
  readonly offset: number
  readonly length: number
}

/** An HTTP request or response inside a record. */
export interface HttpMessage {
  /** The status of a response; 0 for a request. */
  readonly status: number
  /** The request line or status line. */
  readonly start: string
  /** In order, repeated lines apart, names as written. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The value of a header, by its lower-case name; several lines are joined with `, `. */
  header(name: string): string | undefined
  /** The body without its transfer coding (chunks are joined), before content decoding. */
  readonly body: Uint8Array
}

/** Options of `warc()`. */
export interface WarcOptions {
  /**
   * A file is closed and the next one begun before it grows beyond this: a number of bytes, or a text such as `'500MB'`.
   * Default `'1GB'`.
   */
  readonly size?: number | string | undefined
  /** Compresses each record. A number is the level, 1 (fast) to 9 (small). Default true, which is 6. */
  readonly gzip?: boolean | number | undefined
  /** Begins the names of the files. Letters, digits, `_` and `-`. Default `'kumo'`. */
  readonly prefix?: string | undefined
  /** Whether the values of `Authorization` and `Cookie` are kept in request records. Default false. */
  readonly credentials?: boolean | undefined
  /** Fields for the `warcinfo` record of every file, e.g. `{ operator: 'Jane Doe' }`. */
  readonly info?: Readonly<Record<string, string>> | undefined
}

/** Options of `warcReplay()`. */
export interface WarcReplayOptions {
  /**
   * Answers with the last capture up to this time, or with the first one after it if there is none: a `Date`, ms since
   * the epoch, or a text such as `'2026-05-01'`. Default: the latest capture.
   */
  readonly at?: Date | number | string | undefined
}

/** Options of `cache()`. */
export interface CacheOptions {
  /**
   * `'use'` answers with what is kept, however old, and fetches the rest. `'refresh'` follows the rules of HTTP caching:
   * what is still fresh is not fetched, and the server is asked whether the rest has changed. `'only'` fetches nothing.
   * Default `'use'`.
   */
  readonly mode?: 'use' | 'refresh' | 'only' | undefined
}

/** Where a capture is, and what the index says about it. */
export interface Capture {
  readonly url: string
  /** In ms since the epoch. */
  readonly date: number
  readonly status: number
  /** `sha1:…` of the payload; empty if unknown. */
  readonly digest: string
  readonly isRevisit: boolean
  readonly file: string
  readonly offset: number
}
