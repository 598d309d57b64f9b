import { formatCommandLine } from '../../lib/text/shell-words.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import { NotSaved } from '../../ports/checkpoints.ts'
import { runForBytes } from '../../os/run.ts'
import { GitError } from './git-error.ts'
import { type RepositoryDirs, type ConfigOverrides, findConfigOverrides } from './guard/config-overrides.ts'
import { explainNoLazyFetch, NO_PROMISORS } from './guard/lazy-fetch.ts'
import { watchForPipes } from './guard/pipe-watch.ts'
import { lstat } from '../../os/files/lstat-if-exists.ts'
import type { GitEnvironment } from './git-settings.ts'

export interface GitOptions {
  readonly input?: string | Uint8Array
  /** The index to use instead of the user's. */
  readonly index?: string
  readonly env?: Readonly<Record<string, string>>
  /** Settings that must not be visible, as arguments are. */
  readonly settings?: readonly Setting[]
  /** True if the command may contact a remote. */
  readonly usesNetwork?: boolean
  /** The umask for files in a working tree: our own would hide them from other users. */
  readonly umask?: number
  /** Bytes of any file that git writes; a larger file makes git fail. */
  readonly largestFile?: number
  /** Bytes of output after which we end the process: a remote may send any amount. */
  readonly maxOutput?: number
  /** The time limit of this process, if it is shorter than that of the chain. */
  readonly timeout?: Duration
}

export interface GitResult {
  readonly code: number | null
  readonly stdout: Buffer
  readonly stderr: string
}

/** For commands that would read the user's index only for attributes: that is slow, and the index may be broken. */
export const NO_INDEX = '/nonexistent/index'

/** Milliseconds; on SIGTERM git removes its locks, which may be on the user's files. */
const KILL_GRACE = 2_000

/** Only we read this index, and its record shows if we can trust it. */
const SKIP_INDEX_HASH: readonly Setting[] = [['index.skipHash', 'true']]

/**
 * Before 2.45 git does not know GIT_NO_LAZY_FETCH, and would ask any remote that a repository names for missing
 * objects.
 */
const DENY_PROTOCOLS = { GIT_ALLOW_PROTOCOL: 'none' } as const

/**
 * Absent, and not 0, for a git that may fetch: its children inherit the variable, and with 0 the git at the other end of
 * a local address would fetch, too, by the configuration that it has there.
 */
const NO_LAZY_FETCH = { GIT_NO_LAZY_FETCH: '1' } as const

type Setting = readonly [key: string, value: string]

/** Bytes; the shell's unit for file sizes. */
const BLOCK_SIZE = 512
/**
 * With the signal ignored, git fails with a message when a file becomes too large. A lower existing limit stays. git
 * then replaces the shell.
 */
const LIMITED_GIT =
  'test -z "$1" || umask "$1"; test -z "$2" || { trap "" XFSZ; ulimit -f "$2" 2>/dev/null; }; shift 2; exec '

/** Milliseconds for which one chain reuses a check of the repository; a new chain checks again. */
const OVERRIDES_TTL = 200

/** Milliseconds that one process may take by default. */
const DEFAULT_TIMEOUT = 15 * 60_000

/** Runs git in one folder until the signal aborts. */
export class Git {
  readonly environment: GitEnvironment
  readonly cwd: string
  readonly signal: AbortSignal
  /** All its processes must end before this time. */
  readonly #deadline: Instant
  /** The umask for git's own files, which other users may have to read; ours if unset. */
  #umask: number | undefined
  /** The fingerprint of the start, if git may fetch missing objects; undefined if it may not. */
  #lazyFetchRecord: string | undefined
  /** The repository that git must run in, once it is known. */
  #requiredDirs: RepositoryDirs | undefined
  /** Recent checks of folders, shared with the instance that this one was derived from. */
  #overrides = new Map<string, { readonly at: number; readonly protection: Promise<ConfigOverrides> }>()

  constructor(
    environment: GitEnvironment,
    cwd: string,
    signal: AbortSignal,
    until: Instant = Date.now() + DEFAULT_TIMEOUT,
  ) {
    this.environment = environment
    this.cwd = cwd
    this.signal = signal
    this.#deadline = until
  }

  /** The folders of the repository that git must run in; undefined if they are unknown. */
  get requiredDirs(): RepositoryDirs | undefined {
    return this.#requiredDirs
  }

  withCwd(cwd: string, env: Readonly<Record<string, string>> = {}): Git {
    const other = new Git(
      { ...this.environment, env: { ...this.environment.env, ...env } },
      cwd,
      this.signal,
      this.#deadline,
    )
    other.#overrides = this.#overrides
    other.#umask = this.#umask
    other.#lazyFetchRecord = this.#lazyFetchRecord
    if (cwd === this.cwd) other.#requiredDirs = this.#requiredDirs
    return other
  }

  /** Returns a copy for this repository only: it refuses to run if `.git` leads to another one by then. */
  restrictedTo({ gitDir, commonDir }: RepositoryDirs): Git {
    const other = this.withCwd(this.cwd)
    other.#requiredDirs = { gitDir, commonDir }
    return other
  }

  /** Returns a copy that gives objects and refs the permissions of the user's own git. */
  withUmask(umask: number): Git {
    const other = this.withCwd(this.cwd)
    other.#umask = umask
    return other
  }

  /**
   * Returns a copy that fetches objects which a partial clone lacks, as long as the connection settings are those of
   * the record.
   */
  withLazyFetch(record: string): Git {
    const other = this.withCwd(this.cwd)
    other.#lazyFetchRecord = record
    return other
  }

  /** Identifies the present settings by which git would fetch missing objects. */
  async lazyFetchFingerprint(): Promise<string> {
    return (await this.configOverrides()).lazyFetch?.fingerprint ?? NO_PROMISORS
  }

  /** Returns stdout. Throws `GitError` if git fails. */
  async run(args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
    return (await this.runForResult(args, options)).stdout
  }

  /** Does the same and returns stderr as well. */
  async runForResult(args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
    const result = await this.tryRun(args, options)
    if (result.code === 0) return result
    throw new GitError(args[0] ?? '', result)
  }

  /** Does the same and returns one line of text. */
  async runForLine(args: readonly string[], options: GitOptions = {}): Promise<string> {
    return (await this.run(args, options)).toString().replace(/\n$/, '')
  }

  /** Returns the result even if git fails. */
  tryRun(args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
    const umask = options.umask ?? (isWriteCommand(args) ? this.#umask : undefined)
    const blocks = options.largestFile === undefined ? undefined : Math.floor(options.largestFile / BLOCK_SIZE)
    if (umask !== undefined || blocks !== undefined) {
      const script = `${LIMITED_GIT}${this.#gitCommand()} "$@"`
      return this.#spawn('/bin/sh', ['-c', script, 'sh', umask?.toString(8) ?? '', `${blocks ?? ''}`, ...args], options)
    }
    return this.#spawn(this.environment.program, [...this.environment.options, ...args], options)
  }

  /**
   * Runs several commands in a shell, each as `git COMMAND`: a shell starts a process in a tenth of the time that we
   * need. The script may contain only our own words; all others are its arguments.
   */
  runScript(text: string, args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
    const git = `git() { ${this.#gitCommand()} "$@"; }\n`
    const umask = this.#umask === undefined ? '' : `umask ${this.#umask.toString(8)}\n`
    return this.#spawn('/bin/sh', ['-c', umask + git + text, 'sh', ...args], options)
  }

  #gitCommand(): string {
    return formatCommandLine([this.environment.program, ...this.environment.options])
  }

  /** Returns the overrides for the present repository. One chain of processes checks it a few times a second. */
  configOverrides(): Promise<ConfigOverrides> {
    const now = performance.now()
    const key =
      this.#requiredDirs === undefined
        ? this.cwd
        : `${this.cwd}\0${this.#requiredDirs.gitDir}\0${this.#requiredDirs.commonDir}`
    const before = this.#overrides.get(key)
    if (before !== undefined && now - before.at < OVERRIDES_TTL) return before.protection
    const protection = findConfigOverrides(this.cwd, this.environment, this.#requiredDirs)
    this.#overrides.set(key, { at: now, protection })
    return protection
  }

  async #spawn(program: string, args: readonly string[], options: GitOptions): Promise<GitResult> {
    const { environment, cwd, signal } = this
    if (signal.aborted) throw abortError(signal)
    const { settings, env: safe, transferProgram, lazyFetch } = await this.configOverrides()
    const record = this.#lazyFetchRecord
    const whyNoLazyFetch = lazyFetch === null || record === undefined ? null : explainNoLazyFetch(lazyFetch, record)
    const mayFetchLazily = lazyFetch !== null && record !== undefined && whyNoLazyFetch === null
    if (options.index !== undefined && lstat(options.index)?.isSymbolicLink())
      throw new NotSaved(`${options.index} is a link`)
    const index = options.index === undefined ? {} : { GIT_INDEX_FILE: options.index }
    const all = [...settings, ...(options.index === undefined ? [] : SKIP_INDEX_HASH), ...(options.settings ?? [])]
    const given: Record<string, string> = {
      ...environment.env,
      ...safe,
      ...configVariables(all),
      ...index,
      ...options.env,
    }
    const mayConnect = mayFetchLazily || (options.usesNetwork && transferProgram === null)
    const env = { ...given, ...(mayConnect ? {} : DENY_PROTOCOLS), ...(mayFetchLazily ? {} : NO_LAZY_FETCH) }
    const input = options.input === undefined ? {} : { input: options.input }
    const most = options.maxOutput === undefined ? {} : { most: options.maxOutput }
    const how = { cwd, env, grace: KILL_GRACE, ...input, ...most }
    const result = await this.#withTimeout(
      ending => runForBytes(program, args, { ...how, signal: ending }),
      options.timeout,
    )
    return whyNoLazyFetch !== null && isMissingObject(result)
      ? { ...result, stderr: `fatal: ${whyNoLazyFetch}\n${result.stderr}` }
      : result
  }

  /** Ends a process at its deadline, after an abort, and when it waits at a pipe. */
  async #withTimeout(
    work: (ending: AbortSignal) => Promise<GitResult>,
    limit: Duration = Number.POSITIVE_INFINITY,
  ): Promise<GitResult> {
    const ending = new AbortController()
    const end = (): void => ending.abort(this.signal.reason)
    this.signal.addEventListener('abort', end)
    const endLate = (): void => ending.abort(new DOMException('git did not finish in time', 'TimeoutError'))
    // We use our own timer: Node 20 drops a signal that combines a timeout with others.
    const timer = setTimeout(endLate, Math.max(0, Math.min(limit, this.#deadline - Date.now())))
    const unwatch = watchForPipes(this.cwd, cause => ending.abort(cause))
    try {
      const result = await work(ending.signal)
      if (ending.signal.aborted) throw abortError(ending.signal)
      return result
    } finally {
      unwatch()
      clearTimeout(timer)
      this.signal.removeEventListener('abort', end)
    }
  }
}

/** git's messages when it lacks an object or may not fetch it. */
function isMissingObject({ code, stderr }: GitResult): boolean {
  return code !== 0 && /not allowed|lazy fetching disabled|promisor|missing|unable to read|bad object/i.test(stderr)
}

/** Commands that write objects and refs. */
const WRITE_COMMANDS = new Set([
  'read-tree',
  'update-index',
  'write-tree',
  'commit-tree',
  'fast-import',
  'fetch',
  'update-ref',
  'worktree',
])

function isWriteCommand(args: readonly string[]): boolean {
  const at = args.findIndex((word, index) => word !== '-c' && args[index - 1] !== '-c')
  return WRITE_COMMANDS.has(args[at] ?? '')
}

function configVariables(settings: readonly Setting[]): Record<string, string> {
  if (settings.length === 0) return {}
  const pairs = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ])
  return { GIT_CONFIG_COUNT: `${settings.length}`, ...Object.fromEntries(pairs) }
}

function abortError({ reason }: AbortSignal): Error {
  if (reason instanceof NotSaved) return reason
  const isLate = reason instanceof Error && reason.name === 'TimeoutError'
  return new Error(isLate ? 'git did not finish in time' : 'it was cancelled')
}
