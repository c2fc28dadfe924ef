/**
 * A priority queue of items with numeric keys: smallest first, equal keys in order of arrival.
 *
 * Four children per node and all keys in one flat array: with 100,000 hosts, sifting down touches a few cache lines
 * instead of that many objects. Entries cannot be moved or removed from the middle. Callers that need this keep the
 * ticket that `push` returned, ignore entries with an older ticket, and drop stale ones with `retain` from time to
 * time.
 */
export class Heap<T> {
  #items: T[] = []
  /** Two numbers per entry: its key and its ticket. */
  #keys = new Float64Array(2 * INITIAL_CAPACITY)
  #tickets = 0

  get size(): number {
    return this.#items.length
  }

  /** The smallest key; Infinity if the heap is empty. */
  get topKey(): number {
    return this.#items.length === 0 ? Number.POSITIVE_INFINITY : this.#keys[0]!
  }

  get topTicket(): number {
    return this.#keys[1]!
  }

  get top(): T | undefined {
    return this.#items[0]
  }

  /**
   * Returns the ticket of the entry, a number that no other entry of this heap has or had. A caller that passes its own
   * tickets decides the order among equal keys: the smallest ticket goes first.
   */
  push(item: T, key: number, ticket = ++this.#tickets): number {
    const items = this.#items
    let hole = items.length
    items.push(item)
    if (2 * items.length > this.#keys.length) this.#grow()
    const keys = this.#keys
    while (hole > 0) {
      const parent = (hole - 1) >> 2
      const parentKey = keys[2 * parent]!
      if (parentKey < key || (parentKey === key && keys[2 * parent + 1]! < ticket)) break
      keys[2 * hole] = keys[2 * parent]!
      keys[2 * hole + 1] = keys[2 * parent + 1]!
      items[hole] = items[parent]!
      hole = parent
    }
    keys[2 * hole] = key
    keys[2 * hole + 1] = ticket
    items[hole] = item
    return ticket
  }

  pop(): T | undefined {
    const items = this.#items
    const top = items[0]
    const last = items.pop()
    const size = items.length
    if (size > 0) this.#sink(last as T, this.#keys[2 * size]!, this.#keys[2 * size + 1]!, 0)
    return top
  }

  /**
   * Counts the keys up to and including `key`, and returns the smallest key above it. Visits only the nodes that it
   * must.
   */
  upTo(key: number): { count: number; next: number } {
    const keys = this.#keys
    const size = this.#items.length
    let count = 0
    let next = Number.POSITIVE_INFINITY
    const open = size > 0 ? [0] : []
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (keys[2 * node]! > key) {
        next = Math.min(next, keys[2 * node]!)
        continue
      }
      count++
      for (let child = 4 * node + 1; child < Math.min(4 * node + 5, size); child++) open.push(child)
    }
    return { count, next }
  }

  /** Drops all entries except those for which `isWanted` returns true; these keep their tickets and their order. */
  retain(isWanted: (item: T, ticket: number) => boolean): void {
    const items = this.#items
    const keys = this.#keys
    let kept = 0
    for (let i = 0; i < items.length; i++) {
      if (!isWanted(items[i]!, keys[2 * i + 1]!)) continue
      items[kept] = items[i]!
      keys[2 * kept] = keys[2 * i]!
      keys[2 * kept + 1] = keys[2 * i + 1]!
      kept++
    }
    items.length = kept
    for (let hole = (kept - 2) >> 2; hole >= 0; hole--) {
      this.#sink(items[hole]!, keys[2 * hole]!, keys[2 * hole + 1]!, hole)
    }
  }

  /** Places an entry at the hole and sifts it down. */
  #sink(item: T, key: number, ticket: number, hole: number): void {
    const items = this.#items
    const keys = this.#keys
    const size = items.length
    for (;;) {
      const first = 4 * hole + 1
      if (first >= size) break
      let best = first
      let bestKey = keys[2 * first]!
      const end = Math.min(first + 4, size)
      for (let child = first + 1; child < end; child++) {
        const childKey = keys[2 * child]!
        if (childKey < bestKey || (childKey === bestKey && keys[2 * child + 1]! < keys[2 * best + 1]!)) {
          best = child
          bestKey = childKey
        }
      }
      if (key < bestKey || (key === bestKey && ticket < keys[2 * best + 1]!)) break
      keys[2 * hole] = bestKey
      keys[2 * hole + 1] = keys[2 * best + 1]!
      items[hole] = items[best]!
      hole = best
    }
    keys[2 * hole] = key
    keys[2 * hole + 1] = ticket
    items[hole] = item
  }

  #grow(): void {
    const larger = new Float64Array(2 * this.#keys.length)
    larger.set(this.#keys)
    this.#keys = larger
  }
}

const INITIAL_CAPACITY = 16
