import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { byteOrderMark, declaredEncoding } from '../../../src/extract/charset/charset.js'
import { metaEncoding, xmlEncoding } from '../../../src/extract/charset/prescan.js'
import { seededRandom } from '../../../src/time.js'
import { cpuMs } from '../../cpu-time.js'

const SUITE = fileURLToPath(
  new URL('../../../../shared/suites/charset/html5lib_encoding.json', import.meta.url),
)

/** Cases of the suite that are not met, by file and number, with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'scripted/tests1.dat 0': 'the declaration is written by a script, and no script runs here',
}
const BAR = 75

interface SuiteCase {
  file: string
  n: number
  data_b64: string
  encoding: string
}

describe('metaEncoding', () => {
  const cases: [markup: string, encoding: string | undefined][] = [
    ['<meta charset=koi8-r>', 'koi8-r'],
    ['<!DOCTYPE html>\n<html lang="en" dir="ltr">\n<head>\n<meta charset="UTF-8" />', 'utf-8'],
    ['<!doctype html><html><head><meta charset=utf-8>', 'utf-8'],
    ['<!doctype html><html><head><meta charset=utf-8/>', undefined],
    ['<!doctype html><html lang="><head><meta charset="utf-8">', undefined],
    ['<META/CHARSET = "KOI8-R"/>', 'koi8-r'],
    ['<meta charset=koi8-r', undefined],
    ['<meta charset="koi8-r>', undefined],
    ['<metadata charset=koi8-r>', undefined],
    ['<meta charset=bogus><meta charset=koi8-r>', 'koi8-r'],
    ['<meta charset=bogus charset=koi8-r>', undefined],
    ['<meta charset=utf-16be>', 'utf-8'],
    ['<meta charset=x-user-defined>', 'windows-1252'],
    ['<meta content="text/html; charset=koi8-r">', undefined],
    ['<meta content="text/html; charset=koi8-r" http-equiv=Content-Type>', 'koi8-r'],
    ['<meta http-equiv=Content-Type content="charset; charset = \'koi8-r\'">', 'koi8-r'],
    ['<meta http-equiv=Content-Type content="charset=\'koi8-r; charset=gbk">', undefined],
    ['<meta http-equiv=Content-Type content="charset=koi8-r" charset=gbk>', 'gbk'],
    ['<meta http-equiv=Content-Type charset=bogus content="charset=koi8-r">', undefined],
    ['<!--<meta charset=koi8-r>-->', undefined],
    ['<!--><meta charset=koi8-r>', 'koi8-r'],
    ['<!-- <meta charset=koi8-r>', undefined],
    ['<p title="<meta charset=koi8-r>">', undefined],
    ['</p title="<meta charset=koi8-r>">', undefined],
    ['<? x="<meta charset=koi8-r>', undefined],
    ['<script>"<meta charset=koi8-r>"</script>', 'koi8-r'],
    ['1 < 2 <meta charset=koi8-r>', 'koi8-r'],
  ]
  it.for(cases)('%s → %s', ([markup, encoding]) => {
    expect(metaEncoding(markup)).toBe(encoding)
  })

  it.for(['<meta charset ', '<!--charset', '<meta charset="', '<meta a', '<<<<charset', 'charset='])(
    'reads a long run of %o in linear time',
    (piece) => {
      const text = `charset${piece.repeat(Math.ceil(300_000 / piece.length))}`
      const started = cpuMs()
      metaEncoding(text)
      expect(cpuMs() - started).toBeLessThan(10_000)
    },
  )

  it('agrees with html-encoding-sniffer', () => {
    const sniff = createRequire(import.meta.url)('html-encoding-sniffer') as Sniffer
    const random = seededRandom(1)
    const differences: string[] = []
    let compared = 0
    let declared = 0
    for (let i = 0; i < 20_000; i++) {
      const length = 1 + Math.floor(random.next() * 14)
      const pieces = Array.from({ length }, () => PIECES[Math.floor(random.next() * PIECES.length)])
      const markup = `${pieces.join('')}${ENDS_ANY_TAG}`
      const bytes = Buffer.from(markup, 'latin1')
      const theirs = answerOf(sniff, bytes)
      if (theirs === undefined) continue
      const ours = metaEncoding(markup) ?? 'none'
      compared++
      if (ours !== 'none') declared++
      if (ours !== theirs) differences.push(`${JSON.stringify(markup)}: ${ours}, not ${theirs}`)
    }
    console.log(
      `prescan: ${compared} documents as html-encoding-sniffer reads them, ${declared} with a declaration`,
    )
    expect(differences).toEqual([])
    expect(declared).toBeGreaterThan(1000)
  })
})

type Sniffer = (bytes: Uint8Array, options: { defaultEncoding: string }) => string

/** Undefined where it throws: for a `content` that ends in the word `charset`. */
function answerOf(sniff: Sniffer, bytes: Uint8Array): string | undefined {
  try {
    return sniff(bytes, { defaultEncoding: 'none' }).toLowerCase()
  } catch {
    return undefined
  }
}

/**
 * Not compared, because there the package leaves the standard: a declaration in a tag that never ends, attributes of
 * an end tag, and a `charset` that names nothing before a `content` that does.
 */
const ENDS_ANY_TAG = ` '>">`
// biome-ignore format: a list of pieces reads best as a block
const PIECES = [
  '<meta ', '<meta/', '<META\n', '<meta', 'charset', '=', ' = ', '"', "'", 'utf-8', 'iso8859-2', 'utf-16', 'koi8-r',
  'x-user-defined', '>', ' ', '/', '<!--', '-->', '<!-->', '--', '<p ', '</p>', '<!doctype html>', '<?x ?>', 'http-equiv=',
  'content-type', '"Content-Type"', 'content=', '"text/html; charset=koi8-r"', 'content="charset=\'gbk\' "', ';', '<', 'a', '\n',
  '<script>', 'title=">"', '<meta charset=gbk>', '<meta charset=bogus>', '\xe9',
]

describe('xmlEncoding', () => {
  const cases: [markup: string, encoding: string | undefined][] = [
    ['<?xml version="1.0" encoding="koi8-r"?>', 'koi8-r'],
    ["<?xml version='1.0' encoding = 'KOI8-R' ?>", 'koi8-r'],
    ['<?xml encoding="utf-16"?>', 'utf-8'],
    ['<?xml encoding="bogus"?>', undefined],
    ['<?xml encoding="koi8-r"', undefined],
    ['<?xml encoding=koi8-r?>', undefined],
    ['<?xml encoding="koi8-r\'?>', undefined],
    ['<?xml?> encoding="koi8-r"', undefined],
    [' <?xml encoding="koi8-r"?>', undefined],
  ]
  it.for(cases)('%s → %s', ([markup, encoding]) => {
    expect(xmlEncoding(markup)).toBe(encoding)
  })
})

describe.skipIf(!existsSync(SUITE))(
  'the encoding cases of html5lib (skipped where the suites are absent)',
  () => {
    it(`are met, but for ${Object.keys(EXCEPTIONS).length}`, () => {
      const cases = JSON.parse(readFileSync(SUITE, 'utf8')) as SuiteCase[]
      const missed = cases
        .filter(({ data_b64, encoding }) => {
          const bytes = Buffer.from(data_b64, 'base64')
          const found = byteOrderMark(bytes) ?? declaredEncoding(bytes, undefined, bytes.length)
          return (found ?? 'windows-1252') !== encoding.toLowerCase()
        })
        .map(({ file, n }) => `${file} ${n}`)
      console.log(`html5lib encoding cases: ${cases.length - missed.length} of ${cases.length}`)
      expect(missed).toEqual(Object.keys(EXCEPTIONS))
      expect(cases.length - missed.length).toBeGreaterThanOrEqual(BAR)
    })
  },
)
