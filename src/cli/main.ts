#!/usr/bin/env node
/**
 * The `kumo` command. This file only picks the command: each one loads its code when it runs, so that `--help` is
 * instant.
 */

import { KumoError } from '../errors.js'
import { VERSION } from '../options/options.js'
import { closestWord } from './closest-word.js'
import { COMMANDS, helpText, SIMULATE_FEEDS, type Topic } from './help.js'
import { UsageError } from './usage-error.js'

const FAILED = 1
const MISUSED = 2

const TOPICS: Readonly<Record<Topic, (args: readonly string[]) => Promise<number>>> = {
  crawl: async (args) => (await import('./crawl/crawl.js')).crawlCommand(args),
  check: async (args) => (await import('./check/check.js')).checkCommand(args),
  feeds: async (args) => (await import('./feeds/feeds.js')).feedsCommand(args),
  index: async (args) => (await import('./search/index-command.js')).indexCommand(args),
  search: async (args) => (await import('./search/search-command.js')).searchCommand(args),
  serve: async (args) => (await import('./search/serve-command.js')).serveCommand(args),
  inspect: async (args) => (await import('./inspect/inspect.js')).inspectCommand(args),
  warc: async (args) => (await import('./warc/warc.js')).warcCommand(args),
  simulate: async (args) => (await import('./simulate/simulate.js')).simulateCommand(args),
}

void main(process.argv.slice(2)).then((code) => {
  // Not process.exit(), which would drop output that is still buffered.
  process.exitCode = code
})

async function main([first, ...rest]: readonly string[]): Promise<number> {
  const topic = isTopic(first) ? first : undefined
  try {
    if (topic !== undefined) return asksForHelp(rest) ? print(helpOf(topic, rest)) : await TOPICS[topic](rest)
    if (first === '--version' || first === '-v' || first === '-V') return print(`${VERSION}\n`)
    if (first === 'help' || first === '--help' || first === '-h') return print(helpText(topicOf(rest[0])))
    if (first !== undefined) throw notACommand(first)
    process.stderr.write(helpText(undefined))
    return MISUSED
  } catch (error) {
    return report(error, topic)
  }
}

function helpOf(topic: Topic, [first]: readonly string[]): string {
  return topic === 'simulate' && first === 'feeds' ? SIMULATE_FEEDS : helpText(topic)
}

function isTopic(word: string | undefined): word is Topic {
  return word !== undefined && Object.hasOwn(TOPICS, word)
}

/** Arguments after `--` are operands, even if they look like options. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end < 0 ? undefined : end).some((arg) => arg === '--help' || arg === '-h')
}

function topicOf(word: string | undefined): Topic | undefined {
  if (word === undefined || isTopic(word)) return word
  throw notACommand(word)
}

function notACommand(word: string): UsageError {
  if (word.includes('://')) return new UsageError(`no command given; did you mean: kumo crawl ${word}`)
  if (word.startsWith('-'))
    return new UsageError(`unknown option ${word}; options follow a command, as in: kumo crawl --help`)
  const closest = closestWord(word, COMMANDS)
  const advice = closest === undefined ? `commands are ${COMMANDS.join(', ')}` : `did you mean ${closest}?`
  return new UsageError(`'${word}' is not a command; ${advice}`)
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

/** Prints what went wrong and returns the exit code. */
function report(error: unknown, topic: Topic | undefined): number {
  const command = topic === undefined ? 'kumo' : `kumo ${topic}`
  if (error instanceof UsageError) {
    process.stderr.write(`${command}: ${error.message}\nRun '${command} --help' for all options.\n`)
    return MISUSED
  }
  if (error instanceof KumoError) process.stderr.write(`${error.code}: ${error.message}\n`)
  // Anything else is a bug in Kumo, so print the stack.
  else console.error(error)
  return FAILED
}
