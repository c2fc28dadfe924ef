/** URLs that a program keeps: none of them may keep the page alive that it was found on. */

import { runPlain } from './child.js'
import type { Bench, Figure } from './report.js'

const URLS = 100_000
const LINKS_PER_PAGE = 100
const PAGE_BYTES = 22_000
const MOST_BYTES = 300

export const kept: Bench = async () => {
  const figures: Figure[] = []
  for (const what of ['skip', 'failure', 'link']) {
    const args = [what, URLS, LINKS_PER_PAGE, PAGE_BYTES].map(String)
    const { bytes } = JSON.parse(await runPlain('kept-child.mjs', args)) as { bytes: number }
    figures.push({
      what: `memory of a kept ${what} URL`,
      value: bytes,
      unit: 'B',
      bar: { atMost: MOST_BYTES },
    })
  }
  return figures
}
