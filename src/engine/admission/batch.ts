import { MINE, type OriginFacts } from './origin-cache.js'

/** URLs on their way in, those of this shard apart from those of others. */
export class Batch {
  readonly mine: string[] = []
  readonly hosts: string[] = []
  others: Map<number, string[]> | undefined = undefined

  get isEmpty(): boolean {
    return this.mine.length === 0 && this.others === undefined
  }

  put(url: string, place: OriginFacts): void {
    if (place.owner === MINE) {
      this.mine.push(url)
      this.hosts.push(place.host)
      return
    }
    this.others ??= new Map()
    const urls = this.others.get(place.owner)
    if (urls === undefined) this.others.set(place.owner, [url])
    else urls.push(url)
  }
}
