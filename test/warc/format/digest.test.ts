import { createHash, randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { base32, matchesDigest, sha1 } from '../../../src/warc/format/digest.js'
import { base32Sha1 } from '../archived-site.js'

it('is SHA-1 in base 32', () => {
  expect(base32(Buffer.from('fooba'))).toBe('MZXW6YTB')
  for (const length of [0, 1, 20, 1000]) {
    const bytes = randomBytes(length)
    expect(sha1(bytes)).toBe(`sha1:${base32Sha1(bytes)}`)
  }
})

it('is compared with what other tools write', () => {
  const bytes = randomBytes(100)
  const hex = (name: string) => createHash(name).update(bytes).digest('hex')
  expect(matchesDigest(sha1(bytes), bytes)).toBe(true)
  expect(matchesDigest(`sha1:${hex('sha1')}`, bytes)).toBe(true)
  expect(matchesDigest(`sha-256:${hex('sha256')}`, bytes)).toBe(true)
  expect(matchesDigest(`md5:${hex('md5').toUpperCase()}`, bytes)).toBe(true)
  expect(matchesDigest(`sha1:${hex('sha1')}`, Buffer.from('other'))).toBe(false)
  expect(matchesDigest('unheard-of:ABC', bytes)).toBeUndefined()
})
