import fs from 'node:fs'
import type { ChangedFile } from '../../../core/loop/evidence.ts'
import { below } from '../../../lib/raw-path.ts'
import type { Place } from '../place.ts'

/** Bytes; git leaves no marks in what is larger than people write. */
const LARGEST = 2_000_000
const MOST_FILES = 2_000

/** Files with marks of a conflict that they did not have before. A line of `=======` alone is none. */
export async function markedFiles({ git, repository }: Place, changed: readonly ChangedFile[]): Promise<string[]> {
  const marked: string[] = []
  for (const file of changed.slice(0, MOST_FILES)) {
    if (file.after === null || !file.after.startsWith('100')) continue
    const count = marksIn(textAt(below(repository.top, file.path)))
    if (count === 0) continue
    const [, hash] = file.before?.split(' ') ?? []
    const before = hash === undefined ? '' : (await git.ask(['cat-file', 'blob', hash])).stdout.toString('latin1')
    if (count > marksIn(before)) marked.push(file.name)
  }
  return marked
}

/** How many conflicts with both sides and their end there are. */
function marksIn(text: string): number {
  if (!text.includes('<<<<<<<')) return 0
  let [count, step] = [0, 0]
  for (const line of text.split('\n')) {
    if (/^<{7}(?!\S)/.test(line)) step = 1
    else if (step === 1 && line.trimEnd() === '=======') step = 2
    else if (step === 2 && /^>{7}(?!\S)/.test(line)) {
      count++
      step = 0
    }
  }
  return count
}

function textAt(file: Buffer): string {
  try {
    const stat = fs.lstatSync(file)
    return stat.isFile() && stat.size <= LARGEST ? fs.readFileSync(file, 'latin1') : ''
  } catch {
    return '' // Gone meanwhile.
  }
}
