/** `kumo crawl --store` and `kumo inspect`: a crawl that outlives its process. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Inspection } from 'kumo'
import { describe, expect, onTestFinished, test } from 'vitest'
import { askedPaths, linkedPages, site } from '../crawler/support.js'
import { type RunOptions, runProgram } from '../run-program.js'

const kumo = (args: readonly string[], options?: RunOptions) => runProgram('src/cli/main.ts', args, options)

/** A folder that is not there yet, and will be gone when the test ends. */
async function newFolder(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'kumo-cli-'))
  onTestFinished(() => rm(parent, { recursive: true }))
  return join(parent, 'crawl')
}

async function inspected(folder: string): Promise<Inspection> {
  const { code, stdout, stderr } = await kumo(['inspect', folder, '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as Inspection
}

const COUNT = 12

describe('--store', () => {
  test('prints the command that resumes; nothing is fetched twice', async () => {
    const small = await site(linkedPages(COUNT))
    const folder = await newFolder()
    const command = ['crawl', small.url(), '--store', folder, '--delay', '200ms']
    let interrupted = false
    const first = await kumo(command, {
      onOutput: (stdout, child) => {
        if (interrupted || stdout.split('\n').length < 4) return
        interrupted = true
        child.kill('SIGINT')
      },
    })
    expect(first.code).toBe(0)
    expect(first.stderr).toMatch(
      /^Stopping: .*\nRun the same command again to resume\.\nStopped: \d+ pages; .*\n\d+ URLs still pending\. To resume:\n/,
    )
    expect(first.stderr).toMatch(new RegExp(`\n {2}kumo ${command.join(' ')}\n$`))
    expect(await inspected(folder)).toMatchObject({ state: 'stopped', inUse: false, runs: 1 })

    const second = await kumo(command)
    expect(second.code).toBe(0)
    expect(second.stderr).toMatch(/^Done: 12 pages in 2 runs; /)
    const paths = askedPaths(small)
    expect(paths).toHaveLength(COUNT)
    expect(new Set(paths).size).toBe(COUNT)
    const listed = `${first.stdout}${second.stdout}`.trimEnd().split('\n')
    expect(new Set(listed).size).toBe(COUNT)

    const third = await kumo(command)
    expect(third).toMatchObject({ code: 0, stdout: '' })
    expect(third.stderr).toMatch(
      /^Already done: 12 pages in 3 runs; .*\nNo URL was pending and none was new\./,
    )
  })

  test('resumes after a kill without losing or repeating a line', async () => {
    const small = await site(linkedPages(COUNT))
    const folder = await newFolder()
    const command = ['crawl', small.url(), '--store', folder, '--delay', '200ms', '--json', '--quiet']
    const first = await kumo(command, {
      onOutput: (stdout, child) => void (stdout.split('\n').length > 5 && child.kill('SIGKILL')),
    })
    expect(first.code).toBeNull()
    expect(await inspected(folder)).toMatchObject({ state: 'crashed or running', inUse: false })
    const second = await kumo(command)
    expect({ ...second, stdout: '' }).toEqual({ code: 0, stdout: '', stderr: '' })
    const ids = `${first.stdout}${second.stdout}`
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id)
    expect(new Set(ids).size).toBe(COUNT)
    // What was written since the last commit comes again: a page, or some more where the machine is busy.
    expect(ids.length).toBeLessThanOrEqual(COUNT + 4)
  })

  test('the page limit counts over all runs', async () => {
    const small = await site(linkedPages(COUNT))
    const command = ['crawl', small.url(), '--store', await newFolder(), '--delay', '1ms', '--limit']
    expect((await kumo([...command, '5'])).stderr).toContain(
      '\n7 URLs still pending. To resume with a higher limit:\n  kumo ',
    )
    expect(await kumo([...command, '5'])).toMatchObject({ code: 0, stdout: '' })
    expect((await kumo([...command, '8'])).stdout.trimEnd().split('\n')).toHaveLength(3)
  })

  test('--resume never rejects a crawl, --resume must a folder without one', async () => {
    const small = await site(linkedPages(2))
    const folder = await newFolder()
    const command = ['crawl', small.url(), '--store', folder, '--delay', '1ms', '--resume']
    const missing = await kumo([...command, 'must'])
    expect(missing).toMatchObject({ code: 1, stdout: '' })
    expect(missing.stderr).toMatch(/^KUMO_STORE_RESUME: .*\n$/)
    expect((await kumo([...command, 'never'])).code).toBe(0)
    const present = await kumo([...command, 'never'])
    expect(present).toMatchObject({ code: 1, stdout: '' })
    expect(present.stderr).toMatch(/^KUMO_STORE_RESUME: .*\n$/)
  })

  test('a folder that another process uses is rejected; it can still be inspected', async () => {
    const small = await site(linkedPages(COUNT))
    const folder = await newFolder()
    const command = ['crawl', small.url(), '--store', folder, '--delay', '1s']
    let during: Promise<void> | undefined
    const look = async () => {
      const second = await kumo(command)
      expect(second).toMatchObject({ code: 1, stdout: '' })
      expect(second.stderr).toMatch(/^KUMO_STORE_LOCKED: .*\n$/)
      expect(await inspected(folder)).toMatchObject({ inUse: true, state: 'crashed or running' })
    }
    await kumo(command, {
      onOutput: (_, child) => {
        during ??= look().finally(() => child.kill('SIGINT'))
      },
    })
    await during
  })
})

describe('kumo inspect', () => {
  test('shows the state of the crawl in 80 columns', async () => {
    const small = await site({ ...linkedPages(6), '/3': { status: 404 }, '/4': { status: 410 } })
    const folder = await newFolder()
    await kumo(['crawl', small.url(), '--store', folder, '--delay', '1ms'])
    const { code, stdout, stderr } = await kumo(['inspect', folder])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^state {7}done$/m)
    expect(stdout).toMatch(/^pages {7}4, /m)
    expect(stdout).toMatch(/^pending {5}0 URLs of 6 known$/m)
    expect(stdout).toMatch(/^Failures by code\n {2}2 {2}http-status$/m)
    expect(stdout).toMatch(/^Recent failures\n.* http-status 4(04|10)\n {4}http:/m)
    const wide = stdout.split('\n').filter((line) => line.length > 80 && !line.includes(folder))
    expect(wide).toEqual([])
    const short = await kumo(['inspect', folder, '--failures', '1'])
    expect(short.stdout.match(/UTC {2}http-status/g)).toHaveLength(1)
  })

  test('--json prints everything as one line', async () => {
    const small = await site(linkedPages(COUNT))
    const folder = await newFolder()
    await kumo(['crawl', small.url(), '--store', folder, '--delay', '1ms', '--limit', '5'])
    expect(await inspected(folder)).toMatchObject({
      state: 'limit',
      runs: 1,
      pages: 5,
      pending: 7,
      known: COUNT,
      failed: 0,
      hosts: { total: 1, withMostPending: [{ host: new URL(small.url()).host, pending: 7 }] },
    })
  })

  test('a folder without a crawl is an error and is not created', async () => {
    const folder = await newFolder()
    const { code, stdout, stderr } = await kumo(['inspect', folder])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^KUMO_\w+: .*\n$/)
    await expect(rm(folder)).rejects.toThrow('ENOENT')
  })
})
