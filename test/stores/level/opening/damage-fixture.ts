/**
 * A crawl of many commits in a folder, made by the store itself, and a copy of it as a crash would leave it. What must
 * be pending after each commit is known, so that half a commit, or one missing in the middle, is found out.
 */

import { cpSync } from 'node:fs'
import { type CrawlRequest, KumoError, type LevelOptions } from 'kumo'
import type { MaybePromise } from 'kumo/adapters'
import { expect } from 'vitest'
import { requestFor } from '../../../fetch/support.js'
import { folder } from '../folders.js'
import { type Opened, openStore, pendingUrls, takeIn } from '../support.js'

/** Some 1 KB to a commit, so that a life's log has several of LevelDB's blocks of 32 KB. */
const COMMITS_PER_LIFE = 120
const HOSTS = 7
const PADDING = 'x'.repeat(400)

export interface Crawl {
  /** What a crash left: tables of the lives before, the log of the last. Not to be touched: see `left`. */
  readonly path: string
  /** By step: what is pending after it, sorted. One step is one commit. */
  readonly states: readonly (readonly string[])[]
  readonly steps: number
  /** The last step before the last life. Its opening is a commit of its own, if there was something to take up. */
  readonly opened: number
}

export async function crashedCrawl(lives: number): Promise<Crawl> {
  let path = await folder()
  const states: string[][] = [[]]
  const pending = new Set<string>()
  for (let life = 0; life < lives; life++) {
    const opened = await openStore(path)
    for (let i = 0; i < COMMITS_PER_LIFE; i++) await step(opened, states.length, pending, states)
    // A life ends by a crash: closing would be one more commit.
    path = (await left(path)).path
    await opened.close()
  }
  const steps = states.length - 1
  return { path, states, steps, opened: lives === 1 ? -1 : steps - COMMITS_PER_LIFE }
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
    const request = requestFor(urlOf(`h${number % HOSTS}.example/${name}`))
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
  states.push([...pending].map(nameOf).sort())
}

async function soon(lease: () => MaybePromise<readonly CrawlRequest[]>): Promise<readonly CrawlRequest[]> {
  for (;;) {
    const leases = await lease()
    if (leases.length > 0) return leases
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/**
 * Opens a damaged folder and reads all of it. It must be the crawl as it was after some commit, and if that is not the
 * last, it must have been told how many are gone. Whoever reads what is damaged may hear of it then, and not before.
 */
export async function verdictOn(path: string, crawl: Crawl): Promise<'refused' | 'repaired' | 'whole'> {
  let found: Found
  try {
    found = await everythingIn(path)
  } catch (error) {
    if (!(error instanceof KumoError)) throw error
    const { code, message } = error
    expect({ code, message }).toMatchObject({ code: 'KUMO_STORE_DAMAGED' })
    expect(message).toContain(path)
    expect(message).toMatch(/Restore the folder from a backup.*another folder.*repair: true/)
    return 'refused'
  }
  const { reached, pending, knows, events } = found
  const { states, steps, opened } = crawl
  expect(await knows(states.slice(0, reached + 1).flat())).toEqual([])
  expect(pending).toEqual(states[reached])
  if (reached === steps) {
    expect(events).toEqual([])
    return 'whole'
  }
  const lost = steps - reached + (reached > opened ? 0 : 1)
  expect(events).toEqual([
    expect.stringMatching(new RegExp(`^repaired: the last ${lost} commits? .*${path}`)),
  ])
  return 'repaired'
}

export interface Found {
  readonly reached: number
  readonly pending: readonly string[]
  readonly events: readonly string[]
  /** Which of these names are new to it. */
  knows(names: readonly string[]): Promise<string[]>
}

/** All that a folder holds. */
export async function everythingIn(path: string, options: LevelOptions = {}): Promise<Found> {
  const opened = await openStore(path, options)
  const reached = ((await opened.state!.space('test').get('step')) as number | undefined) ?? 0
  const pending = (await pendingUrls(opened.frontier)).map(nameOf)
  const events = opened.events.map(({ kind, message }) => `${kind}: ${message}`)
  const knows = async (names: readonly string[]) => {
    const fresh = await opened.seen.addAll(names.map(urlOf))
    await opened.close()
    return names.filter((_, i) => fresh[i])
  }
  return { reached, pending, events, knows }
}

function urlOf(name: string): string {
  return `https://${name}?${PADDING}`
}

/** Without what is the same in all, for messages that can be read. */
function nameOf(url: string): string {
  return url.slice('https://'.length, -1 - PADDING.length)
}
