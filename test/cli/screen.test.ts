import { Writable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { Screen } from '../../src/cli/screen.js'
import { Terminal } from './terminal.js'

const ERASE = '\r\x1b[K'

/** Standard output and standard error in one terminal. */
function oneWindow() {
  const window = new Terminal()
  return { window, screen: new Screen(window, window, 'xterm') }
}

describe('Screen', () => {
  test('keeps the status line below everything else', async () => {
    const { window, screen } = oneWindow()
    screen.status('1 page')
    await screen.result('200  /a')
    screen.note('Stopping.', 'Later.')
    screen.status('2 pages')
    screen.status('')
    const redrawn = ['1 page', '200  /a\n1 page', 'Stopping.\nLater.\n1 page', '2 pages', '']
    expect(window.text).toBe(redrawn.map((text) => ERASE + text).join(''))
  })

  test('writes a status line that has not changed only once', () => {
    const { window, screen } = oneWindow()
    screen.status('1 page')
    screen.status('1 page')
    expect(window.text).toBe(`${ERASE}1 page`)
  })

  test('keeps status lines out of piped results', async () => {
    const stdout = new Terminal({ isTTY: false })
    const stderr = new Terminal()
    const screen = new Screen(stdout, stderr, 'xterm')
    screen.status('1 page')
    await screen.result('{}')
    expect(stdout.text).toBe('{}\n')
    expect(stderr.text).toBe(`${ERASE}1 page`)
  })

  test.each<[isTTY: boolean, terminal: string | undefined, rewrites: boolean]>([
    [true, 'xterm', true],
    [true, undefined, true],
    [true, 'dumb', false],
    [false, 'xterm', false],
  ])('terminal: %j of kind %j; rewrites: %j', (isTTY, terminal, rewrites) => {
    expect(new Screen(new Terminal(), new Terminal({ isTTY }), terminal).rewrites).toBe(rewrites)
  })

  test('ignores a terminal width of 0', () => {
    expect(new Screen(new Terminal(), new Terminal({ columns: 0 }), undefined).width).toBe(77)
    expect(new Screen(new Terminal(), new Terminal({ columns: 40 }), undefined).width).toBe(37)
  })

  test('a result waits for a slow reader, and one that failed never resolves', async () => {
    const waiting: ((error?: Error) => void)[] = []
    const slow = new Writable({ write: (_, __, done) => void waiting.push(done) })
    slow.on('error', () => {})
    const screen = new Screen(slow, new Terminal(), 'xterm')
    const told: string[] = []
    void screen.result('first').then(() => told.push('first'))
    void screen.result('second').then(() => told.push('second'))
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    await turn()
    expect(told).toEqual([])
    waiting[0]!()
    await turn()
    expect(told).toEqual(['first'])
    waiting[1]!(new Error('disk full'))
    await turn()
    expect(told).toEqual(['first'])
  })
})
