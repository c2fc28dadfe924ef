/**
 * The computation of ranks (PageRank), as a function that names nothing outside of itself: a worker thread runs its source,
 * so that no file must be found at run time, wherever a bundler has put this one.
 */

/** What the thread is started with. */
export interface RankTask {
  readonly size: number
  readonly damping: number
  readonly tolerance: number
  readonly iterations: number
  /** Ranks to start from, and the iterations that they took. */
  readonly start: Float64Array | undefined
  readonly done: number
}

/** To the thread: entries of the graph (number and length as 32 bits, then the bytes), `undefined` after the last; then what to do next. */
export type ToRank = { readonly block: Uint8Array | undefined } | { readonly next: 'go on' | 'save' | 'stop' }

/** From the thread, after each iteration; `ranks` if they were asked for, or if it is done. */
export interface FromRank {
  readonly iteration: number
  readonly change: number
  readonly isDone: boolean
  readonly ranks: Float64Array | undefined
}

export interface RankPort {
  on(event: 'message', listener: (message: ToRank) => void): void
  postMessage(message: FromRank): void
  close(): void
}

export function rankWork(task: RankTask, port: RankPort): void {
  const { size, damping, tolerance, iterations } = task
  /** Blocks of decoded entries: the numbers of pages, where their links end, and the links. */
  const blocks: { ids: Uint32Array; ends: Uint32Array; targets: Uint32Array }[] = []
  const hasLinks = new Uint8Array(size)
  let ranks = task.start ?? new Float64Array(size).fill(1 / size)
  let iteration = task.done

  const decode = (bytes: Uint8Array) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const ids: number[] = []
    const ends: number[] = []
    const targets = new Uint32Array(bytes.length)
    let count = 0
    for (let entry = 0; entry < bytes.length; ) {
      const own = view.getUint32(entry)
      const end = entry + 8 + view.getUint32(entry + 4)
      let at = entry + 8
      const next = () => {
        let value = 0
        for (let scale = 1; ; scale *= 0x80) {
          const byte = bytes[at++]!
          value += (byte & 0x7f) * scale
          if (byte < 0x80) return value
        }
      }
      // Kind, status and time.
      next()
      next()
      next()
      const links = next()
      if (links > 0) {
        const first = next()
        let target = own + (first % 2 === 1 ? -(first + 1) / 2 : first / 2)
        targets[count++] = target
        for (let i = 1; i < links; i++) {
          target += next() + 1
          targets[count++] = target
        }
        ids.push(own)
        ends.push(count)
        hasLinks[own] = 1
      }
      entry = end
    }
    blocks.push({
      ids: Uint32Array.from(ids),
      ends: Uint32Array.from(ends),
      targets: targets.slice(0, count),
    })
  }

  const iterate = (): number => {
    let dangling = 0
    for (let id = 0; id < size; id++) if (hasLinks[id] === 0) dangling += ranks[id]!
    const fresh = new Float64Array(size).fill((1 - damping + damping * dangling) / size)
    for (const { ids, ends, targets } of blocks) {
      let at = 0
      for (let i = 0; i < ids.length; i++) {
        const end = ends[i]!
        const share = (damping * ranks[ids[i]!]!) / (end - at)
        for (; at < end; at++) fresh[targets[at]!]! += share
      }
    }
    let change = 0
    for (let id = 0; id < size; id++) change += Math.abs(fresh[id]! - ranks[id]!)
    ranks = fresh
    return change
  }

  const step = () => {
    const change = iterate()
    iteration++
    const isDone = change < tolerance || iteration >= iterations
    port.postMessage({ iteration, change, isDone, ranks: isDone ? ranks : undefined })
    if (isDone) port.close()
  }

  port.on('message', (message) => {
    if ('block' in message) {
      if (message.block === undefined) step()
      else decode(message.block)
    } else if (message.next === 'stop') port.close()
    else {
      if (message.next === 'save') port.postMessage({ iteration, change: Number.NaN, isDone: false, ranks })
      step()
    }
  })
}
