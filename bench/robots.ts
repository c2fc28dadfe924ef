/** Questions to robots.txt, ordinary and hostile, beside robots-parser with the same text in the same run. */

import { performance } from 'node:perf_hooks'
import { parseRobots } from 'kumo'
import robotsParser from 'robots-parser'
import { type Bench, median } from './report.js'

const SITE = 'https://example.com'
const HOSTILE_BYTES = 500 * 1024
const PATH_LENGTH = 2000
const QUESTIONS = 15
/** robots-parser is given a tenth of the hostile text, and its time is taken times ten: it would take seconds. */
const SHARE_OF_PARSER = 10

/** Rules that nearly match a long path, over and over. */
function hostileRules(bytes: number): string {
  const lines = ['User-agent: *']
  for (let length = 0, n = 0; length < bytes; n++) {
    const line = `Disallow: /${'a*'.repeat(20 + (n % 40))}b${n}$`
    lines.push(line)
    length += line.length + 1
  }
  return lines.join('\n').slice(0, bytes)
}

function ordinaryRules(): string {
  const folders = Array.from(
    { length: 60 },
    (_, i) => `Disallow: /folder-${i}/${i % 5 === 0 ? '*.pdf$' : ''}`,
  )
  return ['User-agent: *', ...folders, 'Allow: /folder-1/open/', 'Crawl-delay: 2'].join('\n')
}

function msPerQuestion(questions: readonly string[], ask: (url: string) => unknown): number {
  return median(
    questions.map((url) => {
      const start = performance.now()
      ask(url)
      return performance.now() - start
    }),
  )
}

export const robots: Bench = async () => {
  const hostile = Array.from({ length: QUESTIONS }, (_, i) => `${SITE}/${'a'.repeat(PATH_LENGTH - i)}`)
  const ours = parseRobots(hostileRules(HOSTILE_BYTES))
  const theirs = robotsParser(`${SITE}/robots.txt`, hostileRules(HOSTILE_BYTES / SHARE_OF_PARSER))
  const oursMs = msPerQuestion(hostile, (url) => ours.allows(url, 'kumo'))
  const theirsMs =
    SHARE_OF_PARSER * msPerQuestion(hostile.slice(0, 3), (url) => theirs.isAllowed(url, 'kumo'))

  const text = ordinaryRules()
  const urls = Array.from({ length: 20_000 }, (_, i) => `${SITE}/folder-${i % 90}/page-${i}.html`)
  const plain = parseRobots(text)
  const rival = robotsParser(`${SITE}/robots.txt`, text)
  const rounds = Array.from({ length: 5 }, () => ({
    ours: usPerUrl(urls, (url) => plain.allows(url, 'kumo')),
    theirs: usPerUrl(urls, (url) => rival.isAllowed(url, 'kumo')),
  }))
  const us = median(rounds.map((round) => round.ours))
  return [
    {
      what: '500 KiB of wildcards, path of 2 kB, a question',
      value: oursMs,
      unit: 'ms',
      bar: { atMost: 20 },
    },
    { what: 'the same in robots-parser', value: theirsMs, unit: 'ms' },
    { what: 'ordinary file of 60 rules, a question', value: us, unit: 'µs' },
    { what: '÷ robots-parser', value: us / median(rounds.map((round) => round.theirs)), unit: '' },
  ]
}

function usPerUrl(urls: readonly string[], ask: (url: string) => unknown): number {
  const start = performance.now()
  for (const url of urls) ask(url)
  return (1000 * (performance.now() - start)) / urls.length
}
