/** `kumo search`: prints the hits of a query. */

import { openIndex, type SearchHit } from '../../search/index.js'
import { readArguments } from '../arguments.js'
import { closestWord } from '../closest-word.js'
import { printable } from '../format.js'
import { UsageError } from '../usage-error.js'
import { SEARCH_OPTIONS } from './options.js'

const BOLD = '\u001b[1m'
const PLAIN = '\u001b[22m'

/** Resolves with the exit code: 1 if nothing was found. */
export async function searchCommand(args: readonly string[]): Promise<number> {
  const { options, operands } = readArguments(wordsLast(args), SEARCH_OPTIONS)
  const [path, ...words] = operands
  if (path === undefined || words.length === 0)
    throw new UsageError("pass the folder of an index and words, as in: kumo search ./index 'green tea'")
  const limit = Number(options.get('limit')?.at(-1) ?? 10)
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > 1000)
    throw new UsageError(
      `--limit: got '${options.get('limit')!.at(-1)}'; allowed: a whole number from 1 to 1000`,
    )
  const index = await openIndex(path)
  try {
    const result = await index.search(words.join(' '), { limit })
    if (options.has('json')) process.stdout.write(`${JSON.stringify(result)}\n`)
    else {
      const isColoured = process.stdout.isTTY === true
      process.stdout.write(result.hits.map((hit) => hitText(hit, isColoured)).join('\n'))
      process.stderr.write(summary(result.total, result.matched, result.corrections))
    }
    return result.total > 0 ? 0 : 1
  } finally {
    await index.close()
  }
}

/** Puts words to leave out, such as `-coffee`, where they are not taken for options. */
function wordsLast(args: readonly string[]): string[] {
  const end = args.includes('--') ? args.indexOf('--') : args.length
  const before = args.slice(0, end)
  const isWord = (arg: string) => /^-[^-\d]./.test(arg)
  for (const arg of before.filter(isWord)) {
    const meant = closestWord(arg.slice(1), Object.keys(SEARCH_OPTIONS))
    if (meant !== undefined)
      throw new UsageError(`${arg}: did you mean --${meant}? If not, put -- before the words`)
  }
  return [...before.filter((arg) => !isWord(arg)), '--', ...before.filter(isWord), ...args.slice(end + 1)]
}

function summary(total: number, matched: string, corrections: Readonly<Record<string, string>>): string {
  const corrected = Object.entries(corrections).map(([from, to]) => `${from} → ${to}`)
  const how =
    matched === 'partial'
      ? '; not every word is in every page'
      : corrected.length > 0
        ? `; ${corrected.join(', ')}`
        : ''
  return `${total} ${total === 1 ? 'page' : 'pages'}${printable(how)}\n`
}

function hitText({ url, anchor, title, headings, snippet }: SearchHit, isColoured: boolean): string {
  const { text = '', ranges = [] } = snippet ?? {}
  let shown = ''
  let at = 0
  for (const [start, end] of isColoured ? ranges : []) {
    shown += `${printable(text.slice(at, start))}${BOLD}${printable(text.slice(start, end))}${PLAIN}`
    at = end
  }
  shown += printable(text.slice(at))
  const path = [title, ...headings.filter((heading) => heading !== title)].join(' › ')
  const address = `${printable(url)}${anchor === undefined ? '' : `#${printable(anchor)}`}`
  return [printable(path), `  ${address}`, ...(shown === '' ? [] : [`  ${shown}`]), ''].join('\n')
}
