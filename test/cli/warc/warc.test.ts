import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LoopbackSite } from '../../loopback/site.js'
import { runProgram } from '../../run-program.js'
import { archive, BODIES, startArchivedSite } from '../../warc/archived-site.js'

let site: LoopbackSite
let folder: string

beforeAll(async () => {
  site = await startArchivedSite()
  folder = await archive(site)
})
afterAll(() => site.close())

const kumo = (...args: string[]) => runProgram('src/cli/main.ts', ['warc', ...args])

it('lists records', async () => {
  const { code, stdout } = await kumo('list', folder, '--type', 'response')
  expect(code).toBe(0)
  const lines = stdout.trimEnd().split('\n')
  expect(lines.length).toBe(Object.keys(BODIES).length)
  expect(lines.some((line) => /^\d{4}-.*Z {2}response {2}301 {2}http.*\/old$/.test(line))).toBe(true)
  const json = await kumo('list', folder, '--json')
  const records = json.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(records[0]).toMatchObject({ type: 'warcinfo', offset: 0, problems: [] })
  expect(records.length).toBe(1 + 2 * (Object.keys(BODIES).length + 1))
})

it('ends quietly when its reader has seen enough', async () => {
  const { code, stderr } = await runProgram('src/cli/main.ts', ['warc', 'list', folder], {
    onStart: (child) => void child.stdout?.destroy(),
  })
  expect([code, stderr]).toEqual([0, ''])
})

it('verifies an archive, and finds what is wrong with it', async () => {
  const sound = await kumo('verify', folder)
  expect([sound.code, sound.stdout]).toEqual([0, ''])
  expect(sound.stderr).toMatch(/^25 records, all sound\n$/)
  const plain = await archive(site, { gzip: false })
  const file = join(plain, readdirSync(plain).find((name) => name.endsWith('.warc'))!)
  const bytes = readFileSync(file)
  bytes.write('NO WORK', bytes.indexOf('All work'))
  writeFileSync(file, bytes.subarray(0, -10))
  const damaged = await kumo('verify', plain)
  expect(damaged.code).toBe(1)
  expect(damaged.stdout).toMatch(/at \d+: its warc-payload-digest is wrong\n/)
  expect(damaged.stdout).toMatch(/at \d+: the file ends in the middle of it/)
  expect(damaged.stderr).toMatch(/2 problems\n$/)
})

it('extracts a page, decoded or as it was received', async () => {
  const page = await kumo('extract', folder, site.url('/gzip'))
  expect([page.code, page.stdout.slice(0, 25)]).toEqual([0, '<title>Compressed</title>'])
  const raw = await kumo('extract', folder, site.url('/twin-2'), '--raw')
  expect(raw.stdout).toMatch(
    /^HTTP\/1\.1 200\r\n[\s\S]*X-Odd-CASE: Kept As It Is\r\n[\s\S]*\r\n\r\n<title>Twin/,
  )
  const missing = await kumo('extract', folder, site.url('/nowhere'))
  expect([missing.code, missing.stdout]).toEqual([1, ''])
  expect(missing.stderr).toContain('is not in the archive')
})

it.each([
  [[], 2, 'nothing to do; use one of list, verify, extract'],
  [['lst', 'x'], 2, 'did you mean list?'],
  [['list'], 2, 'no archive given'],
  [['extract', 'x'], 2, 'expected an archive and one URL'],
  [['extract', 'x', 'nonsense'], 2, 'is not an http(s) URL'],
  [['list', './nowhere'], 1, 'KUMO_ARCHIVE_FAILED'],
] as [string[], number, string][])('%j', async (args, expected, message) => {
  const { code, stderr } = await kumo(...args)
  expect(code).toBe(expected)
  expect(stderr).toContain(message)
})
