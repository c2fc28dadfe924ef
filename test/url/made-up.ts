/** Made-up links for property tests: pieces that real pages and hostile ones contain, strung together by chance. */

import { existsSync, readFileSync } from 'node:fs'
import type { Random } from '../../src/time.js'

const words = (text: string) => text.trim().split(/ +|\n +/)

const STARTS = [
  ...['', '', '', ' ', '\t', '\n/', 'h\nttp://a/'],
  ...words(String.raw`
    / / // /// ./ ../ ../../ . .. ? # \ a: http:// https:// http: https:/ HTTPS:// http:\\ https:/// https:?
    mailto: javascript: data: ftp:// file:/// 1: x-y+z.1: a_b: : http http:# //example.com https://example.com
    https://example.com/ https://example.com:8080/ https://xn--a/ //xn-- https://a--b/ https://-a/ https://a-/`),
]

const PIECES = [
  ...[' ', '\t', '\n', '\r', '\ud800', '\u00ad', '\u0000', '\u007f', '\u200b', '\ufeff', 'K'],
  ...words(String.raw`
    a b page index.html A Z9 0 7 - -- _ ~ . .. ... / / / // ? ? ?x=1 &y=2 # #top : :80 :443 :8080 @ user:pw@ ; , =
    + ! $ & ' " ( ) * [ ] { } | ^ < > \ % %2 %2e %2E %2F %2f %41 %7e %7E %C3%A9 %c3%a9 %20 %25 %% %zz %5e %%34%31
    %3 %32 %65 é ü 日本 😀 example.com www. .org xn--bcher-kva xn-- Bücher 127.0.0.1 0x7f.1 1 .1 [::1] /./ /../ /.
    /.. /.a /%2e%2e/ /.%2E .html -a a- a. localhost ß`),
  '`',
]

export const BASES = [
  'https://example.com/',
  'https://example.com/a/b/c.html?x=1&y=/2/',
  'https://example.com:8080/a//b/',
  'http://example.org/dir/page',
  'http://localhost:3000/%C3%A9/x%',
  'http://[::1]/a/b',
  'https://xn--bcher-kva.de/.well-known/x',
]

const PLAIN_STARTS = ['', ...words('/ ? ../ ./ //example.com/ https://example.com/ http://www.example.org/')]
const PLAIN_PIECES = words('a B 7 page-2 x.html _ ~ / / ? &y=1 # %C3%A9 %20 : @')

/** One link in two is plain but for a rare odd piece, so that the quick ways are walked as often as the slow. */
export function madeUpHref(random: Random): string {
  const oddShare = random.next() < 0.5 ? 1 : 0.03
  const isOdd = () => random.next() < oddShare
  const pick = <T>(list: readonly T[]) => list[Math.floor(random.next() * list.length)]!
  let href = pick(isOdd() ? STARTS : PLAIN_STARTS)
  for (let count = Math.floor(random.next() * 7); count > 0; count--)
    href += pick(isOdd() ? PIECES : PLAIN_PIECES)
  return href
}

interface WptCase {
  readonly input: string
  readonly base: string | null
  readonly href?: string
  readonly failure?: boolean
}

const wptFile = new URL('../../../shared/suites/url/wpt_urltestdata.json', import.meta.url)

/** The URL cases of web-platform-tests, or undefined where the suites are not checked out. */
export function wptCases(): WptCase[] | undefined {
  if (!existsSync(wptFile)) return undefined
  const entries: (string | WptCase)[] = JSON.parse(readFileSync(wptFile, 'utf8'))
  return entries.filter((entry) => typeof entry !== 'string')
}
