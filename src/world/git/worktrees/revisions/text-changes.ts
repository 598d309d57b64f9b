import fs from 'node:fs'
import path from 'node:path'
import type { EditedFile as TextChange } from '../../../../core/tampering/test-file.ts'
import type { ReadBefore } from '../../../../core/tampering/find-changes-to-check.ts'
import type { FileChange } from '../../../../core/loop/work-evidence.ts'
import { matchesGlob } from '../../../../lib/text/glob.ts'
import { displayPath } from '../../../../lib/text/raw-path.ts'
import type { Worktrees } from '../../../../ports/worktrees.ts'
import { readPart } from '../../../../os/files/file-io.ts'
import { readLooseObject } from '../../loose-objects.ts'
import type { RepositoryContext } from '../../repository-context.ts'

type Attribution = Pick<TextChange, 'added' | 'removed' | 'isOwn'>

/** More files are the work of a program; for those beyond, the result only shows that they differ. */
const MAX_FILES = 4_000
/** Bytes. */
const MAX_FILE_SIZE = 1_048_576

/** Returns the texts of files before and after the change, and a function that reads unchanged files. */
export async function readTextChanges(
  worktrees: Pick<Worktrees, 'readBlobs'>,
  { cwd, top }: { cwd: string; top: string },
  changed: readonly (FileChange & Attribution)[],
): Promise<{ changes: readonly TextChange[]; read: ReadBefore }> {
  const hashOf = (entry: string | null): string => entry?.split(' ')[1] ?? ''
  const hashes = changed.slice(0, MAX_FILES).flatMap(({ before, after }) => [hashOf(before), hashOf(after)])
  const texts = await worktrees.readBlobs(
    cwd,
    hashes.filter(hash => hash !== ''),
  )
  const text = (entry: string | null): string | null => (entry === null ? null : (texts.get(hashOf(entry)) ?? entry))
  const changes = changed.map(file => ({
    path: displayPath(file.path),
    before: text(file.before),
    after: text(file.after),
    ...(file.added !== undefined && { added: file.added }),
    ...(file.removed !== undefined && { removed: file.removed }),
    ...(file.isOwn !== undefined && { isOwn: file.isOwn }),
  }))
  const before = new Map(changes.map(change => [change.path, change.before]))
  const readFile = (file: string): string | null =>
    before.has(file) ? (before.get(file) ?? null) : readText(path.join(top, file))
  const matching = (pattern: string): string[] => {
    const removed = [...before.keys()].filter(file => before.get(file) !== null && matchesGlob(file, pattern))
    return [...new Set([...removed, ...matchingBelow(top, pattern)])].toSorted()
  }
  return { changes, read: Object.assign(readFile, { matching }) }
}

/** Folder entries to read for one pattern. */
const MAX_ENTRIES = 5_000

/** Returns files that match a pattern, in the folders that the pattern names. Follows no link, and stops at a limit. */
function matchingBelow(top: string, pattern: string): string[] {
  const parts = pattern.split('/')
  let [folders, looked] = [[''], 0]
  for (const [at, part] of parts.entries()) {
    const isLast = at === parts.length - 1
    folders = folders.flatMap(folder => {
      const entries = entriesIn(path.join(top, folder)).slice(0, Math.max(0, MAX_ENTRIES - looked))
      looked += entries.length
      return entries
        .filter(entry => (isLast ? entry.isFile() : entry.isDirectory()) && matchesGlob(entry.name, part))
        .map(({ name }) => (folder === '' ? name : `${folder}/${name}`))
    })
  }
  return folders
}

function entriesIn(folder: string): fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true })
  } catch {
    return [] // The folder is missing or unreadable.
  }
}

function readText(file: string): string | null {
  try {
    return fs.statSync(file).isFile() ? readPart(file, 0, MAX_FILE_SIZE).toString() : null
  } catch {
    return null // The file is missing or unreadable: the check cannot read it either.
  }
}

/** Bytes; no test or script is longer, and we ignore the rest. */
const MAX_BLOB_SIZE = 1_048_576

/** Blobs to read without git: we read them one after the other. */
const MAX_LOOSE_READS = 100

/** Returns the texts of these blobs by hash; skips missing objects and other types. */
export async function readBlobs(
  { git, repository }: RepositoryContext,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  const unique = [...new Set(hashes)]
  for (const hash of unique.slice(0, MAX_LOOSE_READS)) {
    const object = readLooseObject(repository, hash)
    if (object?.type === 'blob') texts.set(hash, object.content.subarray(0, MAX_BLOB_SIZE).toString())
  }
  const others = unique.filter(hash => !texts.has(hash))
  if (others.length === 0) return texts
  const output = await git.run(['cat-file', '--batch', '--buffer'], { input: others.map(id => `${id}\n`).join('') })
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf('\n', at)
    const [hash = '', type = '', size] = output.subarray(at, end).toString('latin1').split(' ')
    at = end + 1
    if (size === undefined) continue
    if (type === 'blob') texts.set(hash, output.subarray(at, at + Math.min(Number(size), MAX_BLOB_SIZE)).toString())
    at += Number(size) + 1
  }
  return texts
}
