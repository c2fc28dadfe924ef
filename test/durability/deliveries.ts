/** What reached the application, from the lines that the program added to a file: one for each page it was handed. */

import { readFileSync } from 'node:fs'

export interface Delivery {
  readonly id: string
  readonly attempt: number
  readonly url: string
}

/** All lines of the file; none if no page ever came. */
export function readDeliveries(file: string): Delivery[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const [id = '', attempt, url = ''] = line.split(' ')
      return { id, attempt: Number(attempt), url }
    })
}

/**
 * Every page must have been delivered, and one that came again must have come under the same name, or no application
 * could tell that it knows it. Answers with what is wrong.
 *
 * @param wanted the URLs of all pages; undefined where the crawl was not to be whole
 */
export function wrongDeliveries(
  deliveries: readonly Delivery[],
  wanted: ReadonlySet<string> | undefined,
): string[] {
  const findings: string[] = []
  const byUrl = new Map<string, Delivery>()
  const byId = new Map<string, string>()
  for (const delivery of deliveries) {
    const { id, attempt, url } = delivery
    const before = byUrl.get(url)
    byUrl.set(url, before ?? delivery)
    if (before !== undefined && (before.id !== id || before.attempt !== attempt)) {
      const [then, now] = [`${before.id}/${before.attempt}`, `${id}/${attempt}`]
      findings.push(`${url} was delivered as ${then} and again as ${now}`)
    }
    if (byId.has(id) && byId.get(id) !== url) findings.push(`${id} is the name of ${url} and ${byId.get(id)}`)
    byId.set(id, url)
    if (wanted !== undefined && !wanted.has(url))
      findings.push(`${url} was delivered and is none of the pages`)
  }
  for (const url of wanted ?? []) if (!byUrl.has(url)) findings.push(`${url} was never delivered`)
  return findings
}
