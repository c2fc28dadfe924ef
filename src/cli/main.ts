#!/usr/bin/env node
/**
 * The `kumo` command. This file only finds out what is asked and whom to ask: what crawls is loaded when something is
 * to be crawled, so that help is there at once.
 */

import { KumoError } from '../errors.js'
import { VERSION } from '../options/options.js'
import { COMMANDS, helpText, type Topic } from './help.js'
import { Misuse } from './misuse.js'
import { nearest } from './nearest.js'

const FAILED = 1
const MISUSED = 2

const TOPICS: Readonly<Record<Topic, (args: readonly string[]) => Promise<number>>> = {
  crawl: async (args) => (await import('./crawl/crawl.js')).crawl(args),
  inspect: async (args) => (await import('./inspect/inspect.js')).inspectCommand(args),
  simulate: async (args) => (await import('./simulate/simulate.js')).simulateCommand(args),
}

void main(process.argv.slice(2)).then((code) => {
  // Not process.exit: what was written may still be on its way.
  process.exitCode = code
})

async function main([first, ...rest]: readonly string[]): Promise<number> {
  const topic = isTopic(first) ? first : undefined
  try {
    if (topic !== undefined) return asksForHelp(rest) ? say(helpText(topic)) : await TOPICS[topic](rest)
    if (first === '--version' || first === '-v' || first === '-V') return say(`${VERSION}\n`)
    if (first === 'help' || first === '--help' || first === '-h') return say(helpText(topicOf(rest[0])))
    if (first !== undefined) throw notACommand(first)
    process.stderr.write(helpText(undefined))
    return MISUSED
  } catch (error) {
    return tell(error, topic)
  }
}

function isTopic(word: string | undefined): word is Topic {
  return word !== undefined && Object.hasOwn(TOPICS, word)
}

/** Before `--` everything that looks like an option is one. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end < 0 ? undefined : end).some((arg) => arg === '--help' || arg === '-h')
}

function topicOf(word: string | undefined): Topic | undefined {
  if (word === undefined || isTopic(word)) return word
  throw notACommand(word)
}

function notACommand(word: string): Misuse {
  if (word.includes('://')) return new Misuse(`no command given; did you mean: kumo crawl ${word}`)
  if (word.startsWith('-')) return new Misuse(`unknown option ${word}; options stand behind a command`)
  const meant = nearest(word, COMMANDS)
  const advice = meant === undefined ? `there are ${COMMANDS.join(', ')}` : `did you mean ${meant}?`
  return new Misuse(`'${word}' is not a command; ${advice}`)
}

function say(text: string): number {
  process.stdout.write(text)
  return 0
}

/** Says what went wrong, and which exit code that is. */
function tell(error: unknown, topic: Topic | undefined): number {
  const command = topic === undefined ? 'kumo' : `kumo ${topic}`
  if (error instanceof Misuse) {
    process.stderr.write(`${command}: ${error.message}\nFor all options: ${command} --help\n`)
    return MISUSED
  }
  if (error instanceof KumoError) process.stderr.write(`${error.code}: ${error.message}\n`)
  // What nobody foresaw is a defect of ours, and its stack helps to find it.
  else console.error(error)
  return FAILED
}
