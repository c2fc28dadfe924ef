/** Pages, states and folders for tests of sinks. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hook, Page } from 'kumo'
import { pageOf } from 'kumo/conformance'
import { onTestFinished } from 'vitest'
import { memoryState } from '../../../src/stores/memory-state.js'

/** A page with a number; `more` replaces what the crawl sets. */
export function pageNumber(
  n: number,
  more: { change?: Page['change']; data?: object; title?: string; text?: string; url?: string } = {},
): Page {
  const { title = `Page ${n}`, text = `The text of page ${n}.`, url = `https://example.com/${n}` } = more
  const withoutBody = more.change === 'unchanged' || more.change === 'gone'
  const page = pageOf({
    url,
    body: withoutBody ? '' : `<title>${title}</title><main><p>${text}</p></main>`,
    status: more.change === 'gone' ? 404 : more.change === 'unchanged' ? 304 : 200,
  })
  const { change = 'new', data = {} } = more
  return Object.assign(page, { change, data })
}

export const newState = () => memoryState().space('hook')

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kumo-sinks-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Opens a hook, gives it the pages, flushes and closes it. */
export async function writeAll(hook: Hook, pages: readonly Page[], state = newState()): Promise<void> {
  await hook.open?.({ state })
  for (const page of pages) await hook.page?.(page)
  await hook.flush?.()
  await hook.close?.()
}
