/**
 * A crawl of many commits in a folder, made by the store itself, and a copy of it as a crash would leave it. What must
 * be pending after each commit is known, so that half a commit, or one missing in the middle, is found out.
 */

import { cpSync } from 'node:fs'
import type { CrawlRequest } from 'kumo'
import { expect } from 'vitest'
import { requestFor } from '../../fetch/support.js'
import { folder } from './folders.js'
import { type Opened, openStore, pendingUrls, takeIn } from './support.js'

/** Some 1 KB to a commit, so that a life's log has several of LevelDB's blocks of 32 KB. */
const COMMITS_PER_LIFE = 120
const LIVES = 3
const HOSTS = 7
const PADDING = 'x'.repeat(400)

export interface Crawl {
  /** What a crash left: tables of the lives before, the log of the last. Not to be touched: see `left`. */
  readonly path: string
  /** By step: what is pending after it, sorted. One step is one commit. */
  readonly states: readonly (readonly string[])[]
  readonly steps: number
}

export async function crashedCrawl(): Promise<Crawl> {
  let path = await folder()
  const states: string[][] = [[]]
  const pending = new Set<string>()
  for (let life = 0; life < LIVES; life++) {
    const opened = await openStore(path)
    for (let i = 0; i < COMMITS_PER_LIFE; i++) await step(opened, states.length, pending, states)
    // A life ends by a crash: closing would be one more commit.
    path = (await left(path)).path
    await opened.close()
  }
  return { path, states, steps: states.length - 1 }
}

/** A copy of a folder, to be damaged. */
export async function left(from: string): Promise<{ path: string }> {
  const path = await folder()
  cpSync(from, path, { recursive: true })
  return { path }
}

/** One commit: it adds two requests, and every third ends an earlier one, which found one more. */
async function step(opened: Opened, number: number, pending: Set<string>, states: string[][]): Promise<void> {
  const { frontier, seen, state } = opened
  const add = (name: string): CrawlRequest => {
    const request = requestFor(`https://h${number % HOSTS}.example/${name}?${PADDING}`)
    pending.add(request.url)
    return request
  }
  await takeIn(opened, [add(`${number}a`), add(`${number}b`)])
  if (number % 3 === 0) {
    const [lease] = await soon(() => frontier.lease(1, Date.now()))
    const found = [add(`${number}found`)]
    await seen.addAll(found.map(({ url }) => url))
    frontier.settle([{ request: lease!, visitedAt: undefined, found }])
    pending.delete(lease!.url)
  }
  state!.space('test').put('step', number)
  await opened.flush()
  states.push([...pending].sort())
}

async function soon(lease: () => CrawlRequest[] | Promise<CrawlRequest[]>): Promise<CrawlRequest[]> {
  for (;;) {
    const leases = await lease()
    if (leases.length > 0) return leases
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/**
 * Opens a damaged folder. What opens must be the crawl as it was after some commit, and if that is not the last, it must
 * have been told how many are gone.
 */
export async function verdictOn(
  path: string,
  { states, steps }: Crawl,
): Promise<'refused' | 'repaired' | 'whole'> {
  let opened: Opened
  try {
    opened = await openStore(path)
  } catch (error) {
    const { code, message } = error as Error & { code: string }
    expect({ code, message }).toMatchObject({ code: 'KUMO_STORE_DAMAGED' })
    expect(message).toContain(path)
    expect(message).toMatch(/Restore the folder from a copy.*another folder.*repair: true/)
    return 'refused'
  }
  const reached = ((await opened.state!.space('test').get('step')) as number | undefined) ?? 0
  const known = states.slice(0, reached + 1).flat()
  const fresh = await opened.seen.addAll(known)
  expect(known.filter((_, i) => fresh[i])).toEqual([])
  expect(await pendingUrls(opened.frontier)).toEqual(states[reached])
  const events = opened.events.map(({ kind, message }) => `${kind}: ${message}`)
  await opened.close()
  if (reached === steps) {
    expect(events).toEqual([])
    return 'whole'
  }
  expect(events).toEqual([expect.stringContaining(`repaired: the last ${steps - reached} commit`)])
  expect(events[0]).toContain(path)
  return 'repaired'
}
