/**
 * Reads a command line against a table of options. node:util's `parseArgs` splits it into tokens; its error messages
 * address programmers, so this file checks the tokens itself.
 */

import { parseArgs } from 'node:util'
import { closestWord } from './closest-word.js'
import { UsageError } from './usage-error.js'

/** An option of the command line. */
export interface OptionSpec {
  /** Placeholder of its value in help texts: `N`, `DIR`. Absent: a flag. */
  readonly value?: string
  /** One-letter alias. */
  readonly short?: string
  readonly help: string
}

export interface Arguments {
  /** Values by option name, in the order given. Every occurrence of a flag adds an empty string. */
  readonly options: ReadonlyMap<string, readonly string[]>
  /** Arguments that are not options. */
  readonly operands: readonly string[]
}

/** @throws UsageError for an unknown option, a missing value, or a value given to a flag. */
export function readArguments(
  args: readonly string[],
  specs: Readonly<Record<string, OptionSpec>>,
): Arguments {
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, forParseArgs(spec)])),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const options = new Map<string, string[]>()
  const operands: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(token.value)
    if (token.kind !== 'option') continue
    const spec = Object.hasOwn(specs, token.name) ? specs[token.name]! : undefined
    if (spec === undefined) throw unknown(token.rawName, Object.keys(specs))
    const value = valueBehind(token.rawName, spec, token.value, token.inlineValue === true)
    options.set(token.name, [...(options.get(token.name) ?? []), value])
  }
  return { options, operands }
}

function forParseArgs({ value, short }: OptionSpec): { type: 'string' | 'boolean'; short?: string } {
  const type = value === undefined ? 'boolean' : 'string'
  return short === undefined ? { type } : { type, short }
}

function valueBehind(
  rawName: string,
  spec: OptionSpec,
  value: string | undefined,
  isInline: boolean,
): string {
  if (spec.value === undefined) {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value, but got '${value}'`)
    return ''
  }
  if (value === undefined || value === '' || (!isInline && isOption(value))) {
    throw new UsageError(`${rawName} needs a value: ${rawName} ${spec.value}`)
  }
  return value
}

/** In `--store --json` the value is missing. A single dash is a file, and `-1` a number (out of range). */
function isOption(text: string): boolean {
  return text.length > 1 && text.startsWith('-') && Number.isNaN(Number(text))
}

function unknown(rawName: string, names: readonly string[]): UsageError {
  const meant = closestWord(rawName.replace(/^-+/, ''), names)
  return new UsageError(`unknown option ${rawName}${meant === undefined ? '' : `; did you mean --${meant}?`}`)
}
