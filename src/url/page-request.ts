import type { PageRequest, RequestExtras } from '../types.js'

/** What a request, or a link that was not followed, says about itself. */
export interface Asked {
  readonly priority?: number | undefined
  readonly extras?: RequestExtras | undefined
}

/** The request as programs see it. Its data is parsed when it is read for the first time. */
export function pageRequest({ priority = 0, extras }: Asked): PageRequest {
  const { method = 'GET', label, data: json } = extras ?? {}
  if (json === undefined) return { method, label, data: undefined, priority }
  let data: unknown
  let isParsed = false
  return {
    method,
    label,
    // A property of its own, so that copies, JSON and messages to other threads contain it.
    get data() {
      if (!isParsed) data = JSON.parse(json)
      isParsed = true
      return data
    },
    priority,
  }
}
