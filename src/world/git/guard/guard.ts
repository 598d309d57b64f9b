import fs from 'node:fs'
import path from 'node:path'
import { bytesOf, isUtf8, splitRaw } from '../../../lib/raw-path.ts'
import { Unkept } from '../../../ports/checkpoints.ts'
import { readPart } from '../../os/files.ts'
import { runForBytes } from '../../os/run.ts'
import { GitFailed } from '../git-failed.ts'
import type { Means } from '../means.ts'
import { assertNoBareRepository, assertSound, type GitFolder, gitFolderAt } from './git-folder.ts'
import { isSettled } from './is-settled.ts'
import { insteadOf, isHelper, isPromise, isProtocol, isReadFile, isRewrite, matters, mayHold } from './rules.ts'

/** What git is told so that the configuration of the repository it runs in has no program run. */
export interface Protection {
  readonly settings: readonly (readonly [key: string, value: string])[]
  readonly env: Readonly<Record<string, string>>
  /** A setting of the repository's own that would lead a push or fetch elsewhere; null where there is none. */
  readonly rewrite: string | null
}

/** Real paths of the folders of one working tree's repository: its own, and the one that all of its working trees share. */
export interface GitFolders {
  readonly gitDir: string
  readonly commonDir: string
}

/** Where no repository is. */
const NOTHING: Protection = { settings: [], env: {}, rewrite: null }
/** Where `.git` is not a repository any more, git would look for a bare one beside it. Known since 2.38. */
const NO_BARE = ['safe.bareRepository', 'explicit'] as const
const NO_SETTINGS: Protection = { ...NOTHING, settings: [NO_BARE] }
/** Milliseconds. */
const LIMIT = 10_000
/** Bytes; a longer configuration was refused before. */
const LONGEST = 1_048_576
const MOST_KNOWN = 1_000
/** Settings that nobody but the user can have made. */
const PROTECTED = new Set(['system', 'global'])

/** By folder: what was found in its configuration, and what that looked like then. */
const known = new Map<string, { stamp: string; protection: Protection }>()

/**
 * Looks at the repository around a folder before git does. Throws `Unkept` where git would hang, or write through a link, or
 * where it is not the only one that git is to work in.
 */
export async function protectionFor(cwd: string, means: Means, only?: GitFolders): Promise<Protection> {
  const folder = gitFolderAt(cwd)
  if (folder === null) return NOTHING
  if (only !== undefined && folder.top === cwd) assertOnly(folder, only)
  assertNoBareRepository(cwd, folder)
  assertSound(folder)
  const files = [path.join(folder.shared, 'config'), path.join(folder.own, 'config.worktree')]
  const stamp = [...files, ...userFiles(means.env)].map(stampOf).join(' ')
  const before = known.get(folder.own)
  if (before?.stamp === stamp) return before.protection
  const { protection, isFixed } = files.some(mayMatter)
    ? await protectionFrom(folder, cwd, means)
    : { protection: NO_SETTINGS, isFixed: true }
  if (known.size > MOST_KNOWN) known.clear()
  const isOld = files.every(file => isSettled(fs.statSync(file, { throwIfNoEntry: false })))
  if (isFixed && isOld) known.set(folder.own, { stamp, protection })
  return protection
}

function assertOnly({ top, own, shared }: GitFolder, { gitDir, commonDir }: GitFolders): void {
  const isThat = fs.existsSync(shared) && realPath(own) === gitDir && realPath(shared) === commonDir
  if (!isThat) throw new Unkept(`${top} belongs to another repository than it did: its .git leads to ${shared} now`)
}

const realPath = fs.realpathSync.native

function mayMatter(file: string): boolean {
  return mayHold(readPart(file, 0, LONGEST).toString('latin1'))
}

function userFiles({ HOME = '', XDG_CONFIG_HOME }: Readonly<Record<string, string>>): string[] {
  return [path.join(HOME, '.gitconfig'), path.join(XDG_CONFIG_HOME || path.join(HOME, '.config'), 'git', 'config')]
}

function stampOf(file: string): string {
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  return stat === undefined ? '-' : `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`
}

interface Setting {
  readonly isUsers: boolean
  /** The file that it is in; null where it is in none. */
  readonly file: string | null
  readonly key: string
  readonly value: string
  /** Whether its bytes are text: others cannot be given back to git as they are. */
  readonly isText: boolean
}

/** `isFixed`: whether the same files will say the same again. A file that they include may be changed by itself. */
async function protectionFrom(
  folder: GitFolder,
  cwd: string,
  means: Means,
): Promise<{ protection: Protection; isFixed: boolean }> {
  const words = ['config', '--show-scope', '--show-origin', '--includes', '--list', '-z']
  const { code, stdout, stderr } = await runForBytes(means.program, words, { cwd, env: means.env, timeout: LIMIT })
  if (code === null) throw new Unkept(`the configuration of ${folder.shared} cannot be read in time`)
  // git reads the same before all that it does. Somebody could have written something else by then.
  if (code !== 0) throw new Unkept(new GitFailed('config', { code, stderr }).message)
  const all = settingsIn(stdout)
  const own = all.filter(({ isUsers }) => !isUsers)
  const odd = own.find(({ key, isText }) => !isText && matters(key))
  if (odd !== undefined) throw new Unkept(`${odd.key} in the configuration of ${folder.shared} is not UTF-8 text`)
  assertWorktree(folder, own)
  for (const setting of own) if (isReadFile(setting.key)) assertReadable(setting, cwd, means.env)
  // Where the folder belongs to somebody else, git reads none of its settings until its user trusts it.
  const isFixed = own.length > 0 && !own.some(({ key }) => /^include(if\..*)?\.path$/s.test(key))
  return { protection: protectionAgainst(own, all, cwd, means.env), isFixed }
}

/** `SCOPE<NUL>file:ORIGIN<NUL>KEY<LF>VALUE<NUL>`; one without a value has no line end. */
function settingsIn(said: Buffer): Setting[] {
  const words = splitRaw(said)
  const settings: Setting[] = []
  for (let at = 0; at + 2 < words.length; at += 3) {
    const [scope = '', raw = '', entry = ''] = words.slice(at, at + 3)
    const [origin, text] = [raw, entry].map(word => bytesOf(word).toString()) as [string, string]
    const isText = [raw, entry].every(isUtf8)
    const end = endOfKey(text)
    const file = origin.startsWith('file:') ? origin.slice('file:'.length) : null
    settings.push({ isUsers: PROTECTED.has(scope), file, key: text.slice(0, end), value: text.slice(end + 1), isText })
  }
  return settings
}

/** No name of a section or setting has a line end in it. */
function endOfKey(text: string): number {
  const end = text.indexOf('\n')
  return end < 0 ? text.length : end
}

/**
 * A submodule's own configuration names its folder. Any other would be read, and written to. Each setting counts: git takes the
 * last one of the file itself, and none of a file that it includes.
 */
function assertWorktree({ top, own }: GitFolder, settings: readonly Setting[]): void {
  for (const { key, value } of settings) {
    if (key !== 'core.worktree') continue
    const target = path.resolve(own, value)
    const isTop = fs.existsSync(target) && fs.realpathSync(target) === fs.realpathSync(top)
    if (!isTop) throw new Unkept('its working tree is not where its repository is')
  }
}

/** git would wait at a pipe, and whoever writes to it could say something else each time. */
function assertReadable({ key, value, file }: Setting, cwd: string, env: Readonly<Record<string, string>>): void {
  const from = key.startsWith('include') && file !== null ? path.dirname(path.resolve(cwd, file)) : cwd
  const stat = fs.statSync(pathIn(value, from, env), { throwIfNoEntry: false })
  if (stat !== undefined && !stat.isFile()) throw new Unkept(`${value}, which ${key} names, is not a file`)
}

function pathIn(value: string, from: string, env: Readonly<Record<string, string>>): string {
  return value.startsWith('~/') ? path.join(env['HOME'] ?? '', value.slice(2)) : path.resolve(from, value)
}

function protectionAgainst(
  own: readonly Setting[],
  all: readonly Setting[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Protection {
  const users = all.filter(({ isUsers }) => isUsers)
  const last = (of: readonly Setting[], key: string): string | undefined => of.findLast(one => one.key === key)?.value
  const settings: (readonly [string, string])[] = [NO_BARE]
  for (const key of new Set(own.map(one => one.key))) {
    const instead = key === 'core.excludesfile' ? insteadOfExcludes(last(own, key) ?? '', cwd, env) : insteadOf(key)
    const wanted = last(users, key) ?? instead
    if (instead !== undefined && wanted !== undefined && last(own, key) !== wanted) settings.push([key, wanted])
  }
  if (own.some(({ key }) => isHelper(key))) {
    settings.push(['credential.helper', ''])
    for (const { key, value } of users) if (isHelper(key)) settings.push([key, value])
  }
  return { settings, env: environmentAgainst(own, users), rewrite: own.find(({ key }) => isRewrite(key))?.key ?? null }
}

/** A list of patterns may lie anywhere; git would wait at a pipe for ever. */
function insteadOfExcludes(value: string, cwd: string, env: Readonly<Record<string, string>>): string | undefined {
  const stat = fs.statSync(pathIn(value, cwd, env), { throwIfNoEntry: false })
  return stat === undefined || stat.isFile() ? undefined : '/dev/null'
}

/** What no later setting can take back, a variable can. */
function environmentAgainst(own: readonly Setting[], users: readonly Setting[]): Record<string, string> {
  const hasProxy = own.some(({ key }) => key === 'core.gitproxy')
  const allowed = users.flatMap(({ key, value }) =>
    value === 'always' ? (/^protocol\.(?!ext\.|fd\.)(.+)\.allow$/.exec(key)?.[1] ?? []) : [],
  )
  return {
    ...(hasProxy && { GIT_PROXY_COMMAND: '' }),
    ...(own.some(({ key }) => isProtocol(key) || isPromise(key)) && {
      GIT_ALLOW_PROTOCOL: ['file', 'git', 'http', 'https', 'ssh', ...allowed].join(':'),
    }),
  }
}
