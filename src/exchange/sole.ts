import { KumoError } from '../errors.js'
import type { Exchange } from './contract.js'

/** The exchange of a crawl with one shard. That shard owns every host, so it has no other shard to send to or wait for. */
export function soleExchange(): Exchange {
  return {
    send(shard) {
      throw new KumoError(
        'KUMO_CONTRACT_BROKEN',
        `the crawl has one shard, so there is no shard ${shard} to send to`,
      )
    },
    receive() {},
    flush() {},
    rest: () => true,
    watch() {},
    close() {},
  }
}
