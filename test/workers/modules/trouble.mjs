/** Code that worker threads do not survive. */

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

/** Ends the thread, the way `how` says, on pages whose path is `path`. */
export function deadly({ path, how }) {
  return {
    name: 'deadly',
    page(page) {
      if (new URL(page.url).pathname !== path) return
      if (isMainThread) throw new Error('this belongs into a worker')
      return WAYS[how]()
    },
  }
}

const WAYS = {
  exit: () => process.exit(3),
  block() {
    for (;;);
  },
  throwLater() {
    setTimeout(() => {
      throw new Error('thrown where nobody catches it')
    })
    return new Promise(() => {})
  },
  memory() {
    const hoard = []
    for (;;) hoard.push(new Array(1_000_000).fill(Math.random()))
  },
}

/** Ends its thread some time after it was started, whatever it is doing. */
export function mortal({ leastMs, mostMs }) {
  let timer
  return {
    name: 'mortal',
    open() {
      timer = setTimeout(() => process.exit(9), leastMs + Math.random() * (mostMs - leastMs))
    },
    page() {},
    close: () => clearTimeout(timer),
  }
}

/** Ends its thread on pages whose path is one of these, each the first time only: `folder` remembers. */
export function deadlyOnce({ paths, folder }) {
  return {
    name: 'deadly once',
    page(page) {
      const { host, pathname } = new URL(page.url)
      if (!paths.includes(pathname)) return
      const mark = join(folder, `${host}${pathname}`.replace(/\W+/g, '-'))
      if (existsSync(mark)) return
      writeFileSync(mark, '')
      process.exit(3)
    },
  }
}
