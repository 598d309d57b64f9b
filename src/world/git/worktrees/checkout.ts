import type { Head, RepositoryState, ReturnResult, UserRefs } from '../../../ports/worktrees.ts'
import { type RepositoryContext, readHead } from '../repository-context.ts'
import path from 'node:path'
import type { Snapshot } from '../../../core/loop/evidence.ts'
import { readPart, readRegularFile } from '../../../os/files/file-io.ts'
import { GitError } from '../git-error.ts'
import { wasPointed } from './checkout-state.ts'
import { movesSince, reflogSize } from './evidence/reflog.ts'
import { isAncestor, resolveCommit } from './context.ts'
import fs from 'node:fs'
import { lstat } from '../files.ts'

const STATUS_COMMAND = ['status', '--porcelain', '-z', '--untracked-files=normal', '--ignore-submodules=dirty'] as const

export async function inspectCheckout(context: RepositoryContext): Promise<RepositoryState> {
  const { git, repository } = context
  const { branch, commit } = await readCheckedOut(context)
  return {
    top: repository.top,
    gitDir: repository.gitDir,
    branch,
    head: commit,
    isClean: (await git.run(STATUS_COMMAND)).length === 0,
  }
}

/**
 * Brings the user's checkout back to a branch that somebody has left. Where the branch only has to follow what is checked out, no file is
 * touched; else git checks it out, and refuses where that would write over something. A HEAD that somebody has only pointed elsewhere
 * has the files of this branch: it is pointed back, and the branch does not follow.
 */
export async function returnToBranch(
  context: RepositoryContext,
  branch: string,
  since: Pick<Snapshot, 'head' | 'reflog'> | null,
): Promise<ReturnResult> {
  const { git, repository } = context
  const ref = `refs/heads/${branch}`
  const now = readIfPresent(path.join(repository.gitDir, 'HEAD'))?.trim() ?? ''
  if (now === `ref: ${ref}`) return { kind: 'there' }
  const from = /^ref: refs\/heads\/(.*)$/.exec(now)?.[1] ?? 'no branch'
  const base = since?.head ?? null
  const isPointed = wasPointed(repository.gitDir, since?.reflog ?? 0, from === 'no branch' ? null : from)
  const [head, tip] = [await readHead(context), await resolveCommit(git, ref)]
  const left = tip ?? base
  if (isPointed && tip !== null && !hasCommitted(repository.gitDir, since?.reflog ?? 0)) {
    await git.run(['symbolic-ref', '-m', 'oneshot: back to the branch', 'HEAD', ref])
    return { kind: 'pointed', from }
  }
  if (!isPointed && head !== null && (left === null || (await isAncestor(git, left, head)))) {
    const move = [ref, head, tip ?? repository.emptyIds.commit]
    await git.run(['update-ref', '-m', 'oneshot: work of another branch', ...move])
    await git.run(['symbolic-ref', '-m', 'oneshot: back to the branch', 'HEAD', ref])
    return { kind: 'followed', from }
  }
  if (tip === null && base !== null) await git.run(['update-ref', '-m', 'oneshot: the branch was gone', ref, base])
  const result = await git.tryRun(['checkout', '--quiet', '--no-guess', branch, '--'])
  if (result.code === 0) return { kind: 'returned', from, head }
  return { kind: 'stuck', from, why: new GitError('checkout', result).message }
}

/** Whether HEAD moved otherwise than by `git symbolic-ref`, which leaves at most an entry without a message. */
function hasCommitted(gitDir: string, since: number): boolean {
  return movesSince(gitDir, since)?.some(({ message }) => message !== '') === true
}

/** Read from files where that is possible: to start git takes longer. */
export async function readCheckedOut({ git, repository }: RepositoryContext): Promise<Head> {
  const { gitDir, commonDir } = repository
  const reflog = reflogSize(gitDir)
  const output = readIfPresent(path.join(gitDir, 'HEAD'))?.trim() ?? ''
  const ref = /^ref: (refs\/heads\/(?!.*\.\.).+)$/.exec(output)?.[1]
  const loose = ref === undefined ? output : readIfPresent(path.join(commonDir, ref))?.trim()
  if (ref !== 'refs/heads/.invalid' && loose !== undefined && OBJECT_ID.test(loose))
    return { commit: loose, branch: ref?.slice('refs/heads/'.length) ?? null, reflog }
  const { stdout } = await git.tryRun(['rev-parse', '--verify', '--quiet', 'HEAD'])
  const branch = await git.tryRun(['symbolic-ref', '--quiet', '--short', 'HEAD'])
  return { commit: stdout.toString().trim() || null, branch: branch.stdout.toString().trim() || null, reflog }
}

const OBJECT_ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

function readIfPresent(file: string): string | undefined {
  try {
    return readPart(file, 0, 4_096).toString()
  } catch {
    return undefined // Packed, or gone.
  }
}

/** Bytes; whoever has more refs than fit is not watched. */
const MAX_REFS_SIZE = 32 * 1024 * 1024
const PACKED_REF = /^([0-9a-f]{40,64}) (refs\/(?:heads|tags)\/.+)$/
const REF_TARGET = /^[0-9a-f]{40,64}$/

/** Branches, tags and stashes, but for the branches of loops. Read from files: to start git takes longer. Null where they lie elsewhere. */
export function readUserRefs({ repository }: RepositoryContext): UserRefs | null {
  const { commonDir } = repository
  if (fs.existsSync(path.join(commonDir, 'reftable'))) return null
  const refs = new Map<string, string>()
  for (const line of readText(path.join(commonDir, 'packed-refs')).split('\n')) {
    const [, id, name] = PACKED_REF.exec(line) ?? []
    if (id !== undefined && name !== undefined) refs.set(name, id)
  }
  for (const kind of ['refs/heads', 'refs/tags']) {
    for (const name of listFiles(commonDir, kind)) {
      const id = readText(path.join(commonDir, name)).trim()
      if (REF_TARGET.test(id)) refs.set(name, id)
    }
  }
  for (const name of refs.keys()) if (name.startsWith('refs/heads/oneshot/')) refs.delete(name)
  const stashes = readText(path.join(commonDir, 'logs/refs/stash')).split('\n')
  return { refs, stashes: stashes.flatMap(line => /^[0-9a-f]+ ([0-9a-f]{40,64}) /.exec(line)?.[1] ?? []) }
}

/** Refs among which content of others may be; `git log` reads the same by --branches, --remotes, --tags and --glob. */
const WITH_WORK = /^refs\/(?:(?:heads|remotes|tags)\/.+|stash)$/

/**
 * The ids of all branches, remote branches, tags and the stash. Null where files do not tell all of them: a symbolic ref, a link,
 * a file that is no ref, or refs that lie elsewhere.
 */
export function tipsByFiles(commonDir: string): ReadonlySet<string> | null {
  try {
    const ids = new Set(readTips(commonDir).values())
    return [...ids].every(id => REF_TARGET.test(id)) ? ids : null
  } catch {
    return null // Somebody changes them at this moment, or only git may read them.
  }
}

function readTips(commonDir: string): Map<string, string> {
  const read = (name: string): string =>
    readRegularFile(path.join(commonDir, name), MAX_REFS_SIZE).content.toString('latin1')
  const kindOf = (name: string): fs.Stats | undefined => lstat(path.join(commonDir, name))
  if (kindOf('reftable') !== undefined) throw new Error('the refs are in tables')
  const tips = new Map<string, string>()
  const packed = kindOf('packed-refs') === undefined ? '' : read('packed-refs')
  for (const line of packed.split('\n')) {
    const name = line.slice(line.indexOf(' ') + 1)
    if (WITH_WORK.test(name)) tips.set(name, line.slice(0, line.indexOf(' ')))
  }
  const names = ['refs/heads', 'refs/remotes', 'refs/tags', 'refs/stash']
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    const kind = kindOf(name)
    if (kind === undefined) continue
    if (kind.isDirectory())
      for (const entry of fs.readdirSync(path.join(commonDir, name))) names.push(`${name}/${entry}`)
    else tips.set(name, read(name).trimEnd())
  }
  return tips
}

function readText(file: string): string {
  try {
    return readPart(file, 0, MAX_REFS_SIZE).toString('latin1')
  } catch {
    return '' // Gone meanwhile, or no file.
  }
}

function listFiles(top: string, folder: string): string[] {
  let entries: fs.Dirent[]
  try {
    entries = fs.readdirSync(path.join(top, folder), { withFileTypes: true })
  } catch {
    return [] // There are none of that kind.
  }
  return entries.flatMap(entry => {
    const name = `${folder}/${entry.name}`
    if (entry.isDirectory()) return name === 'refs/heads/oneshot' ? [] : listFiles(top, name)
    return entry.isFile() && !name.endsWith('.lock') ? [name] : []
  })
}

/** Commits, newest first. `authoredAt`: seconds since 1970; a commit that is picked or rebased keeps it. */
export async function readLog(
  { git }: Pick<RepositoryContext, 'git'>,
  args: readonly string[],
): Promise<{ id: string; subject: string; parents: readonly string[]; authoredAt: number }[]> {
  const said = (await git.run(['log', '-z', '--no-color', '--format=%at %H %P%n%s', ...args])).toString()
  return said
    .split('\0')
    .filter(line => line !== '')
    .map(line => {
      const [authoredAt, id = '', ...parents] = line.slice(0, line.indexOf('\n')).trim().split(' ')
      return { id, subject: line.slice(line.indexOf('\n') + 1), parents, authoredAt: Number(authoredAt) }
    })
}
