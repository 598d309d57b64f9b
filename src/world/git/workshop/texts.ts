import type { Place } from '../place.ts'

/** Bytes; no test or script is longer, and the rest of it is not looked at. */
const LONGEST = 1_048_576

/** What these blobs hold, by their hash; those that are none, or not there, are left out. */
export async function textsOf({ git }: Place, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  const unique = [...new Set(hashes)]
  if (unique.length === 0) return texts
  const said = await git.run(['cat-file', '--batch', '--buffer'], { input: unique.map(id => `${id}\n`).join('') })
  for (let at = 0; at < said.length; ) {
    const end = said.indexOf('\n', at)
    const [hash = '', type = '', size] = said.subarray(at, end).toString('latin1').split(' ')
    at = end + 1
    if (size === undefined) continue
    if (type === 'blob') texts.set(hash, said.subarray(at, at + Math.min(Number(size), LONGEST)).toString())
    at += Number(size) + 1
  }
  return texts
}
