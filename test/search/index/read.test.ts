/** Readers in another process see whole commits, one after another, while segments come and go. */

import { openWriter } from 'kumo/search'
import { expect, test } from 'vitest'
import { runProgram } from '../../run-program.js'
import { freshFolder, opened } from '../corpus.js'

const ROUNDS = 60
const WORDS = 'alpha beta gamma delta epsilon zeta eta theta iota kappa'.split(' ')

test('a reader in another process sees whole commits while a writer writes and merges', async () => {
  const folder = freshFolder()
  const writer = await openWriter(folder, { fields: { round: 'keyword' }, sync: false })
  const commit = async (round: string) => {
    for (const [at, word] of WORDS.entries())
      await writer.put({ url: `https://example.com/${at}`, text: `common ${word}`, fields: { round } })
    await writer.commit()
  }
  await commit('first')
  let began: (() => void) | undefined
  const isOpen = new Promise<void>((done) => {
    began = done
  })
  const reading = runProgram('test/search/index/read-program.ts', [folder], { onOutput: () => began!() })
  await Promise.race([isOpen, reading])
  for (let round = 0; round < ROUNDS; round++) await commit(`round-${round}`)
  await commit('last')
  const { stdout, code } = await reading
  expect({ stdout, code }).toMatchObject({ stdout: expect.stringMatching(/^open\n\d+\n$/), code: 0 })
  expect(Number(stdout.split('\n')[1])).toBeGreaterThan(0)
  await writer.close()
  expect(await (await opened(folder)).verify()).toMatchObject({ documents: 10 })
})
