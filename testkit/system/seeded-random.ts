/** Returns numbers in [0, 1). */
export type RandomSource = () => number

/**
 * The seed of all random tests. It is the same in every run, so that a failure can be repeated; `npm run test:all`
 * draws another one and prints it.
 */
export const SEED = Number(process.env['ONESHOT_SEED'] ?? 1)

/** Returns the same numbers for the same seed and name. */
export function seededRandom(seed: number, name: string): RandomSource {
  const bytes = Buffer.from(`${seed}/${name}`)
  let state = bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 16_777_619) >>> 0, 2_166_136_261)
  // mulberry32: short, and good enough in all its bits.
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns bytes that no program can compress. */
export function randomBytes(random: RandomSource, length: number): Buffer {
  const words = Uint32Array.from({ length: Math.ceil(length / 4) }, () => random() * 2 ** 32)
  return Buffer.from(words.buffer, 0, length)
}

export function between(random: RandomSource, low: number, high: number): number {
  return low + random() * (high - low)
}

export function pick<T>(things: readonly T[], roll: number): T | undefined {
  return things[Math.floor(roll * things.length)]
}
