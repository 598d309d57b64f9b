import type { ChangedFile } from '../../../../core/loop/work-evidence.ts'
import { joinBelow } from '../../../../lib/text/raw-path.ts'
import { readRegularFile } from '../../../../os/files/file-io.ts'
import type { RepositoryContext } from '../../repository-context.ts'

/** Bytes; larger files are not texts that people write. */
const MAX_FILE_SIZE = 2_000_000
const MAX_FILES = 2_000
/** Bytes; git writes conflict markers also into large files. */
const MAX_CONFLICTED_SIZE = 100_000_000

/**
 * Returns files with new conflict markers: an agent that removes only some markers of a conflict has not resolved it. A
 * single line of `=======` does not count.
 */
export async function findNewConflicts(
  { git, repository }: RepositoryContext,
  changed: readonly ChangedFile[],
): Promise<string[]> {
  const marked: string[] = []
  for (const file of changed.slice(0, MAX_FILES)) {
    if (file.after === null || !file.after.startsWith('100')) continue
    const count = countMarkers(readText(joinBelow(repository.top, file.path)))
    if (count === 0) continue
    const [, hash] = file.before?.split(' ') ?? []
    const before = hash === undefined ? '' : (await git.tryRun(['cat-file', 'blob', hash])).stdout.toString('latin1')
    if (count > countMarkers(before)) marked.push(file.name)
  }
  return marked
}

/**
 * Counts the marker lines with a label, as git writes them, and the complete conflicts without labels. A single marker
 * without a label may be a ruler in a text.
 */
function countMarkers(text: string): number {
  if (!/[<>]{7}/.test(text)) return 0
  let [count, step] = [0, 0]
  for (const line of text.split('\n').map(one => one.trimEnd())) {
    if (/^(?:<{7}|>{7}) \S/.test(line)) count++
    if (/^<{7}(?!\S)/.test(line)) step = 1
    else if (step === 1 && line === '=======') step = 2
    else if (step === 2 && /^>{7}(?!\S)/.test(line)) {
      if (line === '>>>>>>>') count++
      step = 0
    }
  }
  return count
}

/** Returns the files that contain an unresolved conflict; a deleted file resolves its conflict. */
export function findUnresolvedConflicts(top: string, files: readonly string[]): string[] {
  return files.filter(file => /^(?:<{7}|>{7})(?: |$)/m.test(readText(joinBelow(top, file), MAX_CONFLICTED_SIZE)))
}

/** Returns the content of a regular file, and no text for a link, a pipe, or a file that is missing or too large. */
function readText(file: Buffer, maxSize = MAX_FILE_SIZE): string {
  try {
    return readRegularFile(file, maxSize).content.toString('latin1')
  } catch {
    return ''
  }
}
