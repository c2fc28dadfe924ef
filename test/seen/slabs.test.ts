import { describe, expect, it } from 'vitest'
import { PAGE_WORDS, SLAB_PAGES, Slabs } from '../../src/seen/slabs.js'

function wordsOf(memory: Slabs, page: number): Uint32Array {
  const start = (page % SLAB_PAGES) * PAGE_WORDS
  return memory.slabs[Math.floor(page / SLAB_PAGES)]!.subarray(start, start + PAGE_WORDS)
}

describe('Slabs', () => {
  it('cuts pages that nobody else has, all empty', () => {
    const memory = new Slabs()
    const pages = Array.from({ length: 3 * SLAB_PAGES + 1 }, () => memory.allocatePage())
    expect(new Set(pages).size).toBe(pages.length)
    for (const page of pages) {
      expect(wordsOf(memory, page).every((word) => word === 0)).toBe(true)
      wordsOf(memory, page).fill(page + 1)
    }
    for (const page of pages) expect(wordsOf(memory, page)[PAGE_WORDS - 1]).toBe(page + 1)
    expect(memory.bytes).toBe(4 * SLAB_PAGES * PAGE_WORDS * 4)
  })

  it('cuts a page again that was given back, empty', () => {
    const memory = new Slabs()
    const [first, second] = [memory.allocatePage(), memory.allocatePage()]
    wordsOf(memory, first).fill(7)
    wordsOf(memory, second).fill(8)
    memory.freePage(first)
    expect(memory.allocatePage()).toBe(first)
    expect([wordsOf(memory, first)[0], wordsOf(memory, second)[0]]).toEqual([0, 8])
  })

  it('holds nothing once all pages are back, and begins anew in the same array', () => {
    const memory = new Slabs()
    const { slabs } = memory
    const pages = Array.from({ length: 100 }, () => memory.allocatePage())
    memory.scratch(1000)
    for (const page of pages) memory.freePage(page)
    expect([memory.bytes, slabs.length]).toEqual([0, 0])
    expect(memory.allocatePage()).toBe(0)
    expect(memory.slabs).toBe(slabs)
    expect(slabs).toHaveLength(1)
  })
})
