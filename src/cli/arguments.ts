/**
 * Reads a command line by a table of options. node:util's `parseArgs` splits it into tokens; its own messages speak to
 * programmers, so what is wrong is found and told here.
 */

import { parseArgs } from 'node:util'
import { Misuse } from './misuse.js'
import { nearest } from './nearest.js'

/** An option as a command line knows it. */
export interface OptionSpec {
  /** What stands behind it, as help texts show it: `N`, `DIR`. Absent: nothing does. */
  readonly value?: string
  /** A letter for those who type it often. */
  readonly short?: string
  readonly help: string
}

export interface Arguments {
  /** By option, in the order of the command line. An option without a value has an empty text for each time. */
  readonly options: ReadonlyMap<string, readonly string[]>
  /** Everything else. */
  readonly operands: readonly string[]
}

/** @throws Misuse for an unknown option, a missing value, and a value where none is taken. */
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
    if (value !== undefined) throw new Misuse(`${rawName} takes no value, but got '${value}'`)
    return ''
  }
  if (value === undefined || value === '' || (!isInline && isOption(value))) {
    throw new Misuse(`${rawName} needs a value: ${rawName} ${spec.value}`)
  }
  return value
}

/** `--json` where a value should be: the value was forgotten. A dash alone is a file, `-1` a number out of bounds. */
function isOption(text: string): boolean {
  return text.length > 1 && text.startsWith('-') && Number.isNaN(Number(text))
}

function unknown(rawName: string, names: readonly string[]): Misuse {
  const meant = nearest(rawName.replace(/^-+/, ''), names)
  return new Misuse(`unknown option ${rawName}${meant === undefined ? '' : `; did you mean --${meant}?`}`)
}
