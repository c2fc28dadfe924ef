/** Stemming without its package, which is optional. */

import { openIndex, openWriter } from 'kumo/search'
import { expect, test, vi } from 'vitest'
import { freshFolder } from '../corpus.js'

vi.mock('../../../src/require.js', () => ({
  require: (name: string) => {
    throw new Error(`Cannot find module '${name}'`)
  },
}))

test('a missing package is reported when the index is opened, with the command that installs it', async () => {
  const folder = freshFolder()
  const missing = {
    code: 'KUMO_NOT_INSTALLED',
    message: expect.stringMatching(/^stemming needs .*npm install snowball-stemmers$/),
  }
  await expect(openWriter(folder, { stemming: ['de'] })).rejects.toMatchObject(missing)
  // Nothing is left behind: not even a lock.
  await (await openWriter(folder)).close()
  await (await openIndex(folder)).close()
})
