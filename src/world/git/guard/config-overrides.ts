import fs from 'node:fs'
import path from 'node:path'
import { NotSaved } from '../../../ports/checkpoints.ts'
import { readPart } from '../../../os/files/file-io.ts'
import { runForBytes } from '../../../os/run.ts'
import { GitError } from '../git-error.ts'
import type { GitEnvironment } from '../git-settings.ts'
import { type ConfigSetting, LIST_SETTINGS, parseSettings } from './config-settings.ts'
import { describeLazyFetch, type LazyFetch } from './lazy-fetch.ts'
import {
  assertNoBareRepository,
  assertSafe,
  type GitFolder,
  findGitFolder,
  repositoryFolders,
} from './find-and-check-git-folder.ts'
import {
  replacementFor,
  isCredentialHelper,
  isPushOption,
  isPromisorSetting,
  isProtocolSetting,
  isFileSetting,
  isPlace,
  isTransferProgram,
  isUrlRewrite,
  isDangerous,
  mayContainDangerous,
} from './dangerous-settings.ts'

/** Settings and variables that prevent git from running programs that the repository configures. */
export interface ConfigOverrides {
  readonly settings: readonly (readonly [key: string, value: string])[]
  readonly env: Readonly<Record<string, string>>
  /** A setting of the repository that would redirect a push or fetch; null if there is none. */
  readonly urlRewrite: string | null
  /** A program of the repository that git would start to fetch missing objects; null if there is none. */
  readonly transferProgram: string | null
  /** Describes how git would fetch missing objects; null if the repository is no partial clone. */
  readonly lazyFetch: LazyFetch | null
}

/** Real paths of a worktree's git folders: its own, and the one that all worktrees share. */
export interface RepositoryDirs {
  readonly gitDir: string
  readonly commonDir: string
}

/** For a folder without a repository. */
const NO_OVERRIDES: ConfigOverrides = {
  settings: [],
  env: {},
  urlRewrite: null,
  transferProgram: null,
  lazyFetch: null,
}
/** If `.git` is no repository any more, git would look for a bare one beside it. git knows this setting since 2.38. */
const NO_BARE = ['safe.bareRepository', 'explicit'] as const
const DEFAULT_OVERRIDES: ConfigOverrides = { ...NO_OVERRIDES, settings: [NO_BARE] }
/** Milliseconds. */
const TIMEOUT = 10_000
/** Bytes; an earlier check refuses a longer configuration. */
const MAX_CONFIG_SIZE = 1_048_576
const MAX_CACHED = 1_000

/**
 * By folder: the overrides, and the configuration from which they were made. The repository's files count with their
 * content: a program that has mapped a file into its memory can change it without a change of its times.
 */
const cachedOverrides = new Map<string, { source: string; protection: ConfigOverrides }>()

/**
 * Checks the repository around a folder before git runs. Throws `NotSaved` if git would hang or write through a link,
 * or if it is not the required repository.
 */
export async function findConfigOverrides(
  cwd: string,
  environment: GitEnvironment,
  only?: RepositoryDirs,
): Promise<ConfigOverrides> {
  const folder = findGitFolder(cwd)
  if (folder === null) return NO_OVERRIDES
  if (only !== undefined && folder.top === cwd) assertSameDirs(folder, only)
  assertNoBareRepository(cwd, folder)
  assertSafe(folder)
  const files = [path.join(folder.shared, 'config'), path.join(folder.own, 'config.worktree')]
  const configs = files.map(file => readPart(file, 0, MAX_CONFIG_SIZE).toString('latin1'))
  if (!configs.some(mayContainDangerous)) return DEFAULT_OVERRIDES
  const source = [...configs, ...userConfigFiles(environment.env).map(fileStamp)].join('\0')
  const before = cachedOverrides.get(folder.own)
  if (before?.source === source) return before.protection
  const { protection, isFixed } = await readConfigOverrides(folder, cwd, environment)
  if (cachedOverrides.size > MAX_CACHED) cachedOverrides.clear()
  const isUnchanged = files.every((file, n) => readPart(file, 0, MAX_CONFIG_SIZE).toString('latin1') === configs[n])
  if (isFixed && isUnchanged) cachedOverrides.set(folder.own, { source, protection })
  return protection
}

function assertSameDirs({ top, own, shared }: GitFolder, { gitDir, commonDir }: RepositoryDirs): void {
  const isOne = own === shared && gitDir === commonDir
  const isThat = fs.existsSync(shared) && realPath(own) === gitDir && (isOne || realPath(shared) === commonDir)
  if (!isThat) throw new NotSaved(`${top} belongs to another repository now: its .git leads to ${shared}`)
}

const realPath = fs.realpathSync.native

function userConfigFiles({ HOME = '', XDG_CONFIG_HOME }: Readonly<Record<string, string>>): string[] {
  return [path.join(HOME, '.gitconfig'), path.join(XDG_CONFIG_HOME || path.join(HOME, '.config'), 'git', 'config')]
}

function fileStamp(file: string): string {
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  return stat === undefined ? '-' : `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`
}

/** `isFixed`: true if the same configuration always gives the same result. A file that it names may change by itself. */
async function readConfigOverrides(
  folder: GitFolder,
  cwd: string,
  environment: GitEnvironment,
): Promise<{ protection: ConfigOverrides; isFixed: boolean }> {
  const { code, stdout, stderr } = await runForBytes(environment.program, LIST_SETTINGS, {
    cwd,
    env: environment.env,
    timeout: TIMEOUT,
  })
  if (code === null) throw new NotSaved(`the configuration of ${folder.shared} cannot be read in time`)
  // git reads the same settings before every command. Another process could have changed them by then.
  if (code !== 0) throw new NotSaved(new GitError('config', { code, stderr }).message)
  const all = parseSettings(stdout)
  const own = all.filter(({ isUserScope }) => !isUserScope)
  const odd = own.find(({ key, isText }) => !isText && isDangerous(key))
  if (odd !== undefined) throw new NotSaved(`${odd.key} in the configuration of ${folder.shared} is not UTF-8 text`)
  assertWorktree(folder, own)
  for (const setting of own) if (isFileSetting(setting.key)) assertRegularFile(setting, cwd, environment.env)
  // If another user owns the folder, git reads none of its settings until the user trusts it.
  const isFixed = own.length > 0 && !all.some(({ key }) => isFileSetting(key)) && !own.some(({ key }) => isPlace(key))
  const base = { cwd: folder.top, home: environment.env['HOME'] ?? '', folders: repositoryFolders(folder) }
  const lazyFetch = describeLazyFetch(all, base)
  return { protection: { ...buildOverrides(own, all, cwd, environment.env), lazyFetch }, isFixed }
}

/**
 * A submodule's own configuration names its folder. git would read and write any other folder. Each setting counts: git
 * uses the last one in the file itself, and none in an included file.
 */
function assertWorktree({ top, own }: GitFolder, settings: readonly ConfigSetting[]): void {
  for (const { key, value } of settings) {
    if (key !== 'core.worktree') continue
    const target = path.resolve(own, value)
    const isTop = fs.existsSync(target) && fs.realpathSync(target) === fs.realpathSync(top)
    if (!isTop) throw new NotSaved('its working tree is not where its repository is')
  }
}

/** git would hang at a pipe, and its writer could send other content each time. */
function assertRegularFile(
  { key, value, file }: ConfigSetting,
  cwd: string,
  env: Readonly<Record<string, string>>,
): void {
  const from = key.startsWith('include') && file !== null ? path.dirname(path.resolve(cwd, file)) : cwd
  const stat = fs.statSync(resolvePath(value, from, env), { throwIfNoEntry: false })
  if (stat !== undefined && !stat.isFile()) throw new NotSaved(`${value}, which ${key} names, is not a file`)
}

function resolvePath(value: string, from: string, env: Readonly<Record<string, string>>): string {
  return value.startsWith('~/') ? path.join(env['HOME'] ?? '', value.slice(2)) : path.resolve(from, value)
}

function buildOverrides(
  own: readonly ConfigSetting[],
  all: readonly ConfigSetting[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Omit<ConfigOverrides, 'lazyFetch'> {
  const users = all.filter(({ isUserScope }) => isUserScope)
  const last = (of: readonly ConfigSetting[], key: string): string | undefined =>
    of.findLast(one => one.key === key)?.value
  const settings: (readonly [string, string])[] = [NO_BARE]
  for (const key of new Set(own.map(one => one.key))) {
    const instead =
      key === 'core.excludesfile' ? replaceExcludesFile(last(own, key) ?? '', cwd, env) : replacementFor(key)
    const wanted = last(users, key) ?? instead
    if (instead !== undefined && wanted !== undefined && last(own, key) !== wanted) settings.push([key, wanted])
  }
  if (own.some(({ key }) => isCredentialHelper(key))) {
    settings.push(['credential.helper', ''])
    for (const { key, value } of users) if (isCredentialHelper(key)) settings.push([key, value])
  }
  if (own.some(({ key }) => isPushOption(key))) {
    settings.push(['push.pushOption', ''])
    for (const { key, value } of users) if (isPushOption(key)) settings.push([key, value])
  }
  return {
    settings,
    env: overrideEnvironment(own, users),
    urlRewrite: own.find(({ key }) => isUrlRewrite(key))?.key ?? null,
    transferProgram: findTransferProgram(own, users),
  }
}

/** Our own fetches and pushes use a remote with a random name, for which the repository has no settings. */
function findTransferProgram(own: readonly ConfigSetting[], users: readonly ConfigSetting[]): string | null {
  if (![...own, ...users].some(({ key }) => isPromisorSetting(key))) return null
  const isUsers = ({ key, value }: ConfigSetting): boolean =>
    users.some(other => other.key === key && other.value === value)
  return own.find(setting => isTransferProgram(setting.key) && !isUsers(setting))?.key ?? null
}

/** An excludes file may lie anywhere; git would hang at a pipe. */
function replaceExcludesFile(value: string, cwd: string, env: Readonly<Record<string, string>>): string | undefined {
  const stat = fs.statSync(resolvePath(value, cwd, env), { throwIfNoEntry: false })
  return stat === undefined || stat.isFile() ? undefined : '/dev/null'
}

/** A variable can override settings that no later setting can. */
function overrideEnvironment(own: readonly ConfigSetting[], users: readonly ConfigSetting[]): Record<string, string> {
  const hasProxy = own.some(({ key }) => key === 'core.gitproxy')
  const allowed = users.flatMap(({ key, value }) =>
    value === 'always' ? (/^protocol\.(?!ext\.|fd\.)(.+)\.allow$/.exec(key)?.[1] ?? []) : [],
  )
  return {
    ...(hasProxy && { GIT_PROXY_COMMAND: '' }),
    ...(own.some(({ key }) => isProtocolSetting(key) || isPromisorSetting(key)) && {
      GIT_ALLOW_PROTOCOL: ['file', 'git', 'http', 'https', 'ssh', ...allowed].join(':'),
    }),
  }
}
