/** `kumo/warc`: archives of crawls. Writes them, reads them, and crawls them again. */

export type {
  CacheOptions,
  HttpMessage,
  WarcDamage,
  WarcEntry,
  WarcOptions,
  WarcRecord,
  WarcReplayOptions,
} from './contract.js'
export { warc } from './hook.js'
export { readWarc } from './reader.js'
export { warcReplay } from './replay.js'
