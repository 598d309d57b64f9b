import fs from 'node:fs'
import path from 'node:path'
import type { FileChange as TextChange } from '../../../core/guard/file-change.ts'
import type { ReadBefore } from '../../../core/guard/check-definition.ts'
import type { FileChange } from '../../../core/loop/evidence.ts'
import { matchesGlob } from '../../../lib/glob.ts'
import { shown } from '../../../lib/raw-path.ts'
import type { Workshop } from '../../../ports/workshop.ts'
import { readPart } from '../../os/files.ts'

/** More files are the work of a program; of those beyond, only that they differ is known. */
const MOST = 4_000
/** Bytes. */
const LONGEST = 1_048_576

/** What files held before and hold now, and a way to read all that stayed as it was. */
export async function withTexts(
  workshop: Workshop,
  { cwd, top }: { cwd: string; top: string },
  changed: readonly FileChange[],
): Promise<{ changes: readonly TextChange[]; read: ReadBefore }> {
  const hashOf = (entry: string | null): string => entry?.split(' ')[1] ?? ''
  const hashes = changed.slice(0, MOST).flatMap(({ before, after }) => [hashOf(before), hashOf(after)])
  const texts = await workshop.texts(
    cwd,
    hashes.filter(hash => hash !== ''),
  )
  const text = (entry: string | null): string | null => (entry === null ? null : (texts.get(hashOf(entry)) ?? entry))
  const changes = changed.map(file => ({ path: shown(file.path), before: text(file.before), after: text(file.after) }))
  const before = new Map(changes.map(change => [change.path, change.before]))
  const readFile = (file: string): string | null =>
    before.has(file) ? (before.get(file) ?? null) : textAt(path.join(top, file))
  const matching = (pattern: string): string[] => {
    const removed = [...before.keys()].filter(file => before.get(file) !== null && matchesGlob(file, pattern))
    return [...new Set([...removed, ...matchingBelow(top, pattern)])].toSorted()
  }
  return { changes, read: Object.assign(readFile, { matching }) }
}

/** Entries of folders that are looked at for one pattern. */
const MOST_ENTRIES = 5_000

/** Files that match a pattern, along the folders that the pattern names: a link is not followed, and there is an end to it. */
function matchingBelow(top: string, pattern: string): string[] {
  const parts = pattern.split('/')
  let [folders, looked] = [[''], 0]
  for (const [at, part] of parts.entries()) {
    const isLast = at === parts.length - 1
    folders = folders.flatMap(folder => {
      const entries = entriesIn(path.join(top, folder)).slice(0, Math.max(0, MOST_ENTRIES - looked))
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
    return [] // Not there, or not ours to read.
  }
}

function textAt(file: string): string | null {
  try {
    return fs.statSync(file).isFile() ? readPart(file, 0, LONGEST).toString() : null
  } catch {
    return null // Not there, or not ours to read: then the check does not read it either.
  }
}
