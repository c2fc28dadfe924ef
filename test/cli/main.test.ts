/** The command in its own process: help, the version and every kind of usage error. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { helpText } from '../../src/cli/help.js'
import { PROJECT, runProgram } from '../run-program.js'

const kumo = (...args: string[]) => runProgram('src/cli/main.ts', args)

describe('kumo', () => {
  test.concurrent.each([
    [['--help'], undefined],
    [['-h'], undefined],
    [['help'], undefined],
    [['help', 'crawl'], 'crawl'],
    [['crawl', '--help'], 'crawl'],
    [['crawl', 'https://example.com/', '--no-such-option', '-h'], 'crawl'],
    [['help', 'inspect'], 'inspect'],
    [['inspect', '--help'], 'inspect'],
  ] as const)('%j', async (args, topic) => {
    expect(await kumo(...args)).toEqual({ code: 0, stdout: helpText(topic), stderr: '' })
  })

  test.concurrent('--version', async () => {
    const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { version: string }
    expect(await kumo('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  test.concurrent('without arguments prints help as an error', async () => {
    expect(await kumo()).toEqual({ code: 2, stdout: '', stderr: helpText(undefined) })
  })

  test.concurrent.each([
    [['crwal'], "kumo: 'crwal' is not a command; did you mean crawl?", 'kumo'],
    [
      ['make', 'tea'],
      "kumo: 'make' is not a command; commands are crawl, check, feeds, index, search, serve, inspect, simulate, warc, help",
      'kumo',
    ],
    [
      ['help', 'tea'],
      "kumo: 'tea' is not a command; commands are crawl, check, feeds, index, search, serve, inspect, simulate, warc, help",
      'kumo',
    ],
    [['https://a.example/'], 'kumo: no command given; did you mean: kumo crawl https://a.example/', 'kumo'],
    [['--json'], 'kumo: unknown option --json; options follow a command, as in: kumo crawl --help', 'kumo'],
    [
      ['crawl'],
      'kumo crawl: no URL given; pass at least one, as in: kumo crawl https://example.com/',
      'kumo crawl',
    ],
    [
      ['crawl', 'example.com'],
      "kumo crawl: 'example.com' has no scheme; did you mean https://example.com?",
      'kumo crawl',
    ],
    [
      ['crawl', 'https://example.com/', '--limits', '3'],
      'kumo crawl: unknown option --limits; did you mean --limit?',
      'kumo crawl',
    ],
    [
      ['crawl', 'https://example.com/', '--store'],
      'kumo crawl: --store needs a value: --store DIR',
      'kumo crawl',
    ],
    [
      ['crawl', 'https://example.com/', '--depth', 'deep'],
      "kumo crawl: --depth: got 'deep'; allowed: a whole number, 0 or more, or Infinity",
      'kumo crawl',
    ],
    [
      ['inspect'],
      'kumo inspect: no crawl given; pass its folder, as in: kumo inspect ./crawl',
      'kumo inspect',
    ],
    [['inspect', 'a', 'b'], "kumo inspect: expected one crawl, got 'a' and 'b'", 'kumo inspect'],
    [
      ['inspect', 'a', '--hosts', '-1'],
      "kumo inspect: --hosts: got '-1'; allowed: a whole number, 0 or more",
      'kumo inspect',
    ],
  ])('%j is rejected with a message', async (args, message, command) => {
    expect(await kumo(...args)).toEqual({
      code: 2,
      stdout: '',
      stderr: `${message}\nRun '${command} --help' for all options.\n`,
    })
  })
})
