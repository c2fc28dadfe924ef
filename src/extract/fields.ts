import { isThenable } from '../time.js'
import type { Extractor, Page } from './contract.js'

/**
 * `.extract({ title: (page) => … })` as an extractor: each function makes one field of `page.data`. A function may
 * return a promise.
 */
export function fieldExtractor(fields: Readonly<Record<string, (page: Page) => unknown>>): Extractor {
  const entries = Object.entries(fields)
  return {
    name: `fields ${Object.keys(fields).join(', ')}`,
    extract(page) {
      const data: Record<string, unknown> = {}
      const late: Promise<void>[] = []
      try {
        for (const [name, make] of entries) {
          const value = make(page)
          if (isThenable(value)) late.push(Promise.resolve(value).then((made) => void (data[name] = made)))
          else data[name] = value
        }
      } catch (error) {
        // What the others reject with is nobody's any more, and must not end the process.
        void Promise.allSettled(late)
        throw error
      }
      return late.length === 0 ? { data } : Promise.all(late).then(() => ({ data }))
    },
  }
}
