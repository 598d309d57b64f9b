/**
 * Finds any of many words in bytes in one pass, whatever their number (Aho and Corasick, 1975): one table lookup for
 * each byte, where a regular expression takes several times as long.
 */
export class MultiStringSearch {
  /** State × 256 + byte → the next state. */
  readonly #next: Uint16Array
  /** For each state: 1 if a word ends in it, and the words that do. */
  readonly #isEnd: Uint8Array
  readonly #ending: number[][]

  constructor(words: readonly Uint8Array[]) {
    const most = 1 + words.reduce((sum, word) => sum + word.length, 0)
    const next = new Uint16Array(most * 256)
    const ending: number[][] = [[]]
    words.forEach((word, index) => {
      let state = 0
      for (const byte of word) state = next[state * 256 + byte] ||= ending.push([]) - 1
      if (state !== 0) ending[state]?.push(index)
    })
    this.#next = next.slice(0, ending.length * 256)
    this.#ending = ending
    this.#link()
    this.#isEnd = Uint8Array.from(ending, ends => Math.min(1, ends.length))
  }

  /** Returns the end of the first word that begins at `from` or after it; -1 if there is none. */
  firstEnd(bytes: Uint8Array, from: number): number {
    const next = this.#next
    const isEnd = this.#isEnd
    let state = 0
    for (let i = from; i < bytes.length; i++) {
      state = next[state * 256 + (bytes[i] as number)] as number
      if (isEnd[state] !== 0) return i + 1
    }
    return -1
  }

  /** Returns the indices of all words between these two positions. */
  wordsIn(bytes: Uint8Array, from: number, to: number): Set<number> {
    const found = new Set<number>()
    let state = 0
    for (let i = from; i < to; i++) {
      state = this.#next[state * 256 + (bytes[i] as number)] as number
      if (this.#isEnd[state] !== 0) for (const word of this.#ending[state] ?? []) found.add(word)
    }
    return found
  }

  /**
   * Links the states from the root outwards: where no word continues, the search continues with the longest suffix of
   * its input that begins another word.
   */
  #link(): void {
    const next = this.#next
    const fallback = new Uint16Array(this.#ending.length)
    const queue = [...next.subarray(0, 256)].filter(state => state !== 0)
    for (let state = queue.shift(); state !== undefined; state = queue.shift()) {
      const before = fallback[state] as number
      this.#ending[state]?.push(...(this.#ending[before] ?? []))
      for (let byte = 0; byte < 256; byte++) {
        const otherwise = next[before * 256 + byte] as number
        const after = next[state * 256 + byte] as number
        if (after === 0) next[state * 256 + byte] = otherwise
        else {
          fallback[after] = otherwise
          queue.push(after)
        }
      }
    }
  }
}
