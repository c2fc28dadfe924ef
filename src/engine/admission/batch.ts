import type { CrawlRequest } from '../../types.js'
import { MINE, type OriginFacts } from './origin-cache.js'

/** URLs to admit, grouped by the shard that owns them. */
export class Batch {
  readonly mine: string[] = []
  readonly hosts: string[] = []
  others: Map<number, string[]> | undefined = undefined

  get isEmpty(): boolean {
    return this.mine.length === 0 && this.others === undefined
  }

  put(url: string, facts: OriginFacts): void {
    if (facts.owner === MINE) {
      this.mine.push(url)
      this.hosts.push(facts.host)
      return
    }
    this.others ??= new Map()
    const urls = this.others.get(facts.owner)
    if (urls === undefined) this.others.set(facts.owner, [url])
    else urls.push(url)
  }
}

/** Requests to admit, grouped by the shard that owns them. */
export class RequestBatch {
  readonly mine: CrawlRequest[] = []
  readonly others = new Map<number, CrawlRequest[]>()

  put(request: CrawlRequest, { owner }: OriginFacts): void {
    if (owner === MINE) {
      this.mine.push(request)
      return
    }
    const sent = this.others.get(owner)
    if (sent === undefined) this.others.set(owner, [request])
    else sent.push(request)
  }
}
