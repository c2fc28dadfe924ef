/**
 * Wildcard matching in time linear in the text. A regular expression with several stars tries every way to divide a hostile
 * URL between them; this automaton follows all ways at once, as the bits of numbers.
 *
 * State i means that the first i letters of the pattern have matched. A letter moves a state to the next one, and a state
 * before a star may also stay.
 */

const WORD_BITS = 32
const ASCII = 128
const SLASH = 0x2f
const QUESTION = 0x3f

/** What a star matches. */
const NOTHING = 0
const WITHIN_SEGMENT = 1
const WITHIN_PATH = 2
const EVERYTHING = 3

/**
 * Compiles a pattern that must match a whole text. `*` matches anything but slashes, `**` anything, and both stay on their
 * side of the first `?`, after which `*` matches slashes too.
 *
 * @example
 * compileWildcard('/a/*.html')('/a/b.html') // true
 */
export function compileWildcard(pattern: string): (text: string) => boolean {
  const firstStar = pattern.indexOf('*')
  if (firstStar < 0) return (text) => text === pattern
  const head = pattern.slice(0, firstStar)
  const tail = pattern.slice(pattern.lastIndexOf('*') + 1)
  const middle = automaton(pattern.slice(firstStar), head.includes('?'))
  // Most URLs differ from a pattern in its literal ends, which are fast to compare.
  return (text) => text.startsWith(head) && text.endsWith(tail) && middle(text, head.length)
}

function automaton(pattern: string, afterQuestion: boolean): (text: string, start: number) => boolean {
  const { letters, stays } = read(pattern, afterQuestion)
  const words = Math.ceil((letters.length + 1) / WORD_BITS)
  // For each character: the states that it advances, and the states that it leaves in place.
  const moved = new Int32Array(ASCII * words)
  const kept = new Int32Array(ASCII * words)
  for (let state = 0; state < stays.length; state++) {
    const word = state >> 5
    const bit = 1 << (state & 31)
    if (state < letters.length) moved[letters.charCodeAt(state) * words + word]! |= bit
    for (let code = 0; code < ASCII; code++)
      if (passes(stays[state]!, code)) kept[code * words + word]! |= bit
  }
  const active = new Int32Array(words)
  const acceptWord = letters.length >> 5
  const acceptBit = 1 << (letters.length & 31)

  return (text, start) => {
    active.fill(0)
    active[0] = 1
    for (let at = start; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code >= ASCII) return false
      const row = code * words
      let carry = 0
      let alive = 0
      for (let word = 0; word < words; word++) {
        const states = active[word]!
        const moving = states & moved[row + word]!
        const next = (moving << 1) | carry | (states & kept[row + word]!)
        carry = moving >>> (WORD_BITS - 1)
        active[word] = next
        alive |= next
      }
      if (alive === 0) return false
    }
    return (active[acceptWord]! & acceptBit) !== 0
  }
}

/** The letters of a pattern, and for each state what the star there matches. */
function read(pattern: string, afterQuestion: boolean): { letters: string; stays: number[] } {
  let letters = ''
  const stays = [NOTHING]
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at]!
    if (character !== '*') {
      letters += character
      stays.push(NOTHING)
      if (character === '?') afterQuestion = true
    } else if (afterQuestion) {
      stays[letters.length] = EVERYTHING
    } else {
      stays[letters.length] = pattern[at - 1] === '*' ? WITHIN_PATH : WITHIN_SEGMENT
    }
  }
  return { letters, stays }
}

function passes(star: number, code: number): boolean {
  if (star === NOTHING || star === EVERYTHING) return star === EVERYTHING
  return code !== QUESTION && (code !== SLASH || star === WITHIN_PATH)
}
