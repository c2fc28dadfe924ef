import { isThenable } from '../time.js'
import type { Extractor, Page } from './contract.js'

/**
 * The extractor behind `.extract({ title: (page) => … })`: each function, sync or async, returns one field of
 * `page.data`.
 */
export function fieldExtractor(fields: Readonly<Record<string, (page: Page) => unknown>>): Extractor {
  const entries = Object.entries(fields)
  return {
    name: `fields ${Object.keys(fields).join(', ')}`,
    extract(page) {
      const data: Record<string, unknown> = {}
      const pending: Promise<void>[] = []
      try {
        for (const [name, field] of entries) {
          const value = field(page)
          if (isThenable(value))
            pending.push(Promise.resolve(value).then((result) => void (data[name] = result)))
          else data[name] = value
        }
      } catch (error) {
        // Nothing awaits the other promises any more: handle their rejections, or they would end the process.
        void Promise.allSettled(pending)
        throw error
      }
      return pending.length === 0 ? { data } : Promise.all(pending).then(() => ({ data }))
    },
  }
}
