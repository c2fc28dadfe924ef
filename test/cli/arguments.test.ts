import { describe, expect, test } from 'vitest'
import { readArguments } from '../../src/cli/arguments.js'
import { UsageError } from '../../src/cli/usage-error.js'

const SPECS = {
  store: { value: 'DIR', help: '' },
  depth: { value: 'N', help: '' },
  json: { help: '' },
  quiet: { short: 'q', help: '' },
}

const read = (line: string) => {
  const { options, operands } = readArguments(line.split(' '), SPECS)
  return { options: Object.fromEntries(options), operands }
}

describe('readArguments', () => {
  test.each<[line: string, options: Record<string, string[]>, operands: string[]]>([
    ['a --store x b', { store: ['x'] }, ['a', 'b']],
    ['--store=x', { store: ['x'] }, []],
    ['--store=--json', { store: ['--json'] }, []],
    ['--store -', { store: ['-'] }, []],
    ['--depth -1', { depth: ['-1'] }, []],
    ['--store x --store y', { store: ['x', 'y'] }, []],
    ['--json -q', { json: [''], quiet: [''] }, []],
    ['--json -- --store', { json: [''] }, ['--store']],
  ])('%s', (line, options, operands) => {
    expect(read(line)).toEqual({ options, operands })
  })

  test.each<[line: string, message: string]>([
    ['--stroe x', 'unknown option --stroe; did you mean --store?'],
    ['--colour', 'unknown option --colour'],
    ['--constructor', 'unknown option --constructor'],
    ['-x', 'unknown option -x'],
    ['--store', '--store needs a value: --store DIR'],
    ['--store=', '--store needs a value: --store DIR'],
    ['--store --json', '--store needs a value: --store DIR'],
    ['--store -q', '--store needs a value: --store DIR'],
    ['--json=yes', "--json takes no value, but got 'yes'"],
  ])('%s is rejected', (line, message) => {
    expect(() => read(line)).toThrow(new UsageError(message))
  })
})
