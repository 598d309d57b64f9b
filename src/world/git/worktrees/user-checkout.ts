import type { Head, RepositoryState, ReturnResult, UserRefs } from '../../../ports/worktrees.ts'
import { type RepositoryContext, readHead } from '../repository-context.ts'
import path from 'node:path'
import type { Snapshot } from '../../../core/loop/work-evidence.ts'
import { readPart, readRegularFile } from '../../../os/files/file-io.ts'
import { GitError } from '../git-error.ts'
import { operationInProgress } from '../repository.ts'
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
 * Returns the user's checkout to a branch that somebody has left. If the branch can fast-forward to the present HEAD,
 * no file changes; otherwise git checks the branch out, and refuses if that would overwrite something. If somebody only
 * pointed HEAD elsewhere, the files are still those of this branch: HEAD points back to it, and the branch does not
 * move. An operation in progress keeps its HEAD: `git rebase --continue` would add its commits to the wrong branch.
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
  const operation = operationInProgress(repository.gitDir)
  if (operation !== null) return { kind: 'in-progress', from, operation, abort: abortCommand(operation) }
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

/** `a rebase` becomes `git rebase --abort`. */
function abortCommand(operation: string): string {
  if (operation === 'a bisection') return 'git bisect reset'
  return `git ${operation.replace(/^a (?:git )?/, '')} --abort`
}

/** Returns true if HEAD moved other than by `git symbolic-ref`, which leaves at most an entry without a message. */
function hasCommitted(gitDir: string, since: number): boolean {
  return movesSince(gitDir, since)?.some(({ message }) => message !== '') === true
}

/** Reads files if possible, because starting git takes longer. */
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
    return undefined // The ref is packed or missing.
  }
}

/** Bytes; we do not watch a repository with a larger ref file. */
const MAX_REFS_SIZE = 32 * 1024 * 1024
const PACKED_REF = /^([0-9a-f]{40,64}) (refs\/(?:heads|tags)\/.+)$/
const REF_TARGET = /^[0-9a-f]{40,64}$/

/**
 * Returns branches, tags and stashes without the branches of loops. Reads files, because starting git takes longer.
 * Returns null if the repository stores refs in another format.
 */
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

/** Refs that may contain others' work; `git log` reads the same set by --branches, --remotes, --tags and --glob. */
const WITH_WORK = /^refs\/(?:(?:heads|remotes|tags)\/.+|stash)$/

/**
 * Returns the ids of all branches, remote branches, tags and the stash. Returns null if the files do not show all of
 * them: a symbolic ref, a link, a file that is no ref, or another storage format.
 */
export function tipsByFiles(commonDir: string): ReadonlySet<string> | null {
  try {
    const ids = new Set(readTips(commonDir).values())
    return [...ids].every(id => REF_TARGET.test(id)) ? ids : null
  } catch {
    return null // Another process is changing them, or we may not read them.
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
    return '' // The file vanished, or it is no regular file.
  }
}

function listFiles(top: string, folder: string): string[] {
  let entries: fs.Dirent[]
  try {
    entries = fs.readdirSync(path.join(top, folder), { withFileTypes: true })
  } catch {
    return [] // There are no refs of that kind.
  }
  return entries.flatMap(entry => {
    const name = `${folder}/${entry.name}`
    if (entry.isDirectory()) return name === 'refs/heads/oneshot' ? [] : listFiles(top, name)
    return entry.isFile() && !name.endsWith('.lock') ? [name] : []
  })
}

/** Returns commits, newest first. `authoredAt`: seconds since 1970; a cherry-pick or rebase keeps it. */
export async function readLog(
  { git }: Pick<RepositoryContext, 'git'>,
  args: readonly string[],
): Promise<{ id: string; subject: string; parents: readonly string[]; authoredAt: number }[]> {
  const output = (await git.run(['log', '-z', '--no-color', '--format=%at %H %P%n%s', ...args])).toString()
  return output
    .split('\0')
    .filter(line => line !== '')
    .map(line => {
      const [authoredAt, id = '', ...parents] = line.slice(0, line.indexOf('\n')).trim().split(' ')
      return { id, subject: line.slice(line.indexOf('\n') + 1), parents, authoredAt: Number(authoredAt) }
    })
}
