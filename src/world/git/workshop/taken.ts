import fs from 'node:fs'
import path from 'node:path'
import type { ChangedFile } from '../../../core/loop/evidence.ts'
import { bytesOf, type RawPath, rawPath } from '../../../lib/raw-path.ts'
import type { Instant } from '../../../lib/time.ts'
import { NO_INDEX } from '../git.ts'
import type { Place } from '../place.ts'
import { tipsByFiles } from './refs.ts'

/** Files that came from another branch, and the commits that made them. */
export interface Taken {
  readonly paths: ReadonlySet<RawPath>
  readonly commits: ReadonlySet<string>
}

const NOTHING: Taken = { paths: new Set(), commits: new Set() }

const LOG = [
  'log',
  '-m',
  '--raw',
  '-z',
  '--no-renames',
  '--abbrev=64',
  '--source',
  '--ignore-missing',
  '--max-count=5000',
].concat('--format=%x01%H %ct %S')

/** Files that are different now, and where they may have come from. */
interface Asked {
  readonly changed: readonly ChangedFile[]
  /** Commits whose history is the work's own, or was there already. */
  readonly known: readonly string[]
  /** The branch of the work; null for the one that the user has checked out. */
  readonly own: string | null
  readonly begunAt: Instant
}

/**
 * Finds files that are as a commit of another branch made them before the work began: by `git merge --squash`, `git cherry-pick -n`,
 * `git checkout BRANCH -- FILE` or a plain copy. Such content is not the work of whoever took it. Git is asked only where an object is
 * older than the work, and where some ref holds other commits than the known ones.
 */
export async function takenFrom(place: Place, { changed, known, own, begunAt }: Asked): Promise<Taken> {
  const old = changed.filter(file => isOlder(place, file, begunAt))
  if (old.length === 0) return NOTHING
  const tips = tipsByFiles(place.repository.commonDir)
  if (tips !== null && [...tips].every(tip => known.includes(tip))) return NOTHING
  const after = new Map(old.map(file => [file.path, file.after]))
  const excluded = own === null ? [] : [`--exclude=${own}`, `--exclude=${own}-merge-*`]
  const refs = [...excluded, '--branches', '--remotes', '--tags', '--glob=refs/stas[h]', '--not', ...known]
  const words = ['--literal-pathspecs', ...LOG, ...refs, '--stdin']
  const input = bytesOf(['--', ...after.keys()].map(line => `${line}\n`).join(''))
  const answer = await place.git.ask(words, { index: NO_INDEX, input })
  const [paths, commits] = [new Set<RawPath>(), new Set<string>()]
  for (const text of rawPath(answer.stdout).split('\u0001').slice(1)) {
    const [head = '', ...rest] = text.split('\0')
    const [id = '', at, ref = ''] = head.trim().split(' ')
    // Other tasks of a loop are worked on at the same time.
    const isOthers = Number(at) * 1000 < begunAt || ref.startsWith('refs/heads/oneshot/')
    const files = isOthers ? readRaw(rest).filter(([file, entry]) => after.get(file) === entry) : []
    for (const [file] of files) paths.add(file)
    if (files.length > 0) commits.add(id)
  }
  return { paths, commits }
}

/** Whether git had this content before. A packed object tells nothing of its age, nor do some file systems: both may be old. */
function isOlder({ repository }: Place, { path: name, after }: ChangedFile, begunAt: Instant): boolean {
  const hash = after?.split(' ')[1]
  if (hash === undefined || name.includes('\n')) return false
  const file = path.join(repository.commonDir, 'objects', hash.slice(0, 2), hash.slice(2))
  return (fs.statSync(file, { throwIfNoEntry: false })?.birthtimeMs ?? 0) < begunAt
}

/** `MODE HASH` of each path after a commit, as `git log --raw -z` tells them; empty for what is gone. */
export function readRaw(words: readonly string[]): [RawPath, string][] {
  const entries: [RawPath, string][] = []
  for (let at = 0; at + 1 < words.length; at++) {
    const fields = /^\n?:\d+ (\d+) \S+ (\S+) \S+$/.exec(words[at] as string)
    if (fields === null) continue
    entries.push([words[++at] as RawPath, fields[1] === '000000' ? '' : `${fields[1]} ${fields[2]}`])
  }
  return entries
}
