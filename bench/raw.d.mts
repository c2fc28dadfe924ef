/** `request` is how an application would fetch; `dispatch`, with a handler that counts, is undici's bare engine. */
export type RawFlavour = 'request' | 'dispatch'

export interface RawOptions {
  readonly urls: readonly string[]
  readonly concurrency: number
  readonly flavour?: RawFlavour
}

export interface RawResult {
  pages: number
  seconds: number
  pagesPerSecond: number
  /** Of this process; the server is another one. */
  cpuMsPerPage: number
  bytes: number
}

export function rawUndici(options: RawOptions): Promise<RawResult>
