/**
 * Returns random numbers in [0, 1) that are the same in every run of the same name; ONESHOT_DICE selects other ones.
 */
export function seededRandom(name: string): () => number {
  const seed = Buffer.from(`${name}${process.env['ONESHOT_DICE'] ?? ''}`)
  let state = seed.reduce((hash, byte) => Math.imul(hash ^ byte, 16_777_619) >>> 0, 2_166_136_261)
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.round((state / 2 ** 32) * 1_000) / 1_000
  }
}
