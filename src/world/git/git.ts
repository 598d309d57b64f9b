import { commandLine } from '../../lib/quote.ts'
import type { Instant } from '../../lib/time.ts'
import { Unkept } from '../../ports/checkpoints.ts'
import { runForBytes } from '../os/run.ts'
import { GitFailed } from './git-failed.ts'
import { type GitFolders, type Protection, protectionFor } from './guard/guard.ts'
import { watchForPipes } from './guard/watch.ts'
import { lstat } from './lstat.ts'
import type { Means } from './means.ts'

export interface Call {
  readonly input?: string | Uint8Array
  /** The index to work on instead of the user's. */
  readonly index?: string
  readonly env?: Readonly<Record<string, string>>
  /** Settings that are nobody's to see, as arguments are. */
  readonly settings?: readonly Setting[]
  /** Whether it may speak with a remote. */
  readonly reaches?: boolean
  /** For what is written into a working tree: ours would hide it from everybody else. */
  readonly umask?: number
  /** Bytes of any file that it writes; a larger one fails. */
  readonly largestFile?: number
  /** Bytes of output, after which the process is ended: a remote may send any amount. */
  readonly most?: number
}

export interface Answer {
  readonly code: number | null
  readonly stdout: Buffer
  readonly stderr: string
}

/** For commands that would only read the user's index for attributes: that takes long, and it may be broken. */
export const NO_INDEX = '/nonexistent/index'

/** Milliseconds; on SIGTERM git removes the locks that it holds, which may be the user's. */
const GRACE = 2_000

/** Nobody else reads it, and its notes say whether it may be trusted. */
const WITHOUT_HASH: readonly Setting[] = [['index.skipHash', 'true']]

/** Before 2.45 git does not know GIT_NO_LAZY_FETCH, and would ask any remote that a repository names for missing objects. */
const NO_PROTOCOL = { GIT_ALLOW_PROTOCOL: 'none' } as const

type Setting = readonly [key: string, value: string]

/** Bytes; a shell counts the size of files in these. */
const BLOCK = 512
/** Without the signal, git fails with a sentence where a file becomes too large. A limit that is lower already stays. */
const WRAPPED =
  'test -z "$1" || umask "$1"; test -z "$2" || { trap "" XFSZ; ulimit -f "$2" 2>/dev/null; }; shift 2; git "$@"'

/** Milliseconds for which a look at a repository holds within one chain; a new chain looks anew. */
const FRESH = 200

/** Milliseconds that one process may take when nobody says otherwise. */
const LIMIT = 15 * 60_000

/** Runs git in one folder, for as long as nobody calls it off. */
export class Git {
  readonly means: Means
  readonly cwd: string
  readonly signal: AbortSignal
  /** When all of its processes must have come to an end. */
  readonly #until: Instant
  /** Of what git writes into a repository, which others may have to read; ours where nobody says otherwise. */
  #umask: number | undefined
  /** The repository that it must run in, once that is known. */
  #only: GitFolders | undefined
  /** What was found about folders a moment ago, by whatever this one was made from. */
  #looks = new Map<string, { readonly at: number; readonly protection: Promise<Protection> }>()

  constructor(means: Means, cwd: string, signal: AbortSignal, until: Instant = Date.now() + LIMIT) {
    this.means = means
    this.cwd = cwd
    this.signal = signal
    this.#until = until
  }

  at(cwd: string, env: Readonly<Record<string, string>> = {}): Git {
    const other = new Git({ ...this.means, env: { ...this.means.env, ...env } }, cwd, this.signal, this.#until)
    other.#looks = this.#looks
    other.#umask = this.#umask
    if (cwd === this.cwd) other.#only = this.#only
    return other
  }

  /** The same, for this repository alone: it refuses to run when `.git` leads to another one meanwhile. */
  onlyIn({ gitDir, commonDir }: GitFolders): Git {
    const other = this.at(this.cwd)
    other.#only = { gitDir, commonDir }
    return other
  }

  /** The same, with the permissions that its user's own git would give to objects and refs. */
  masked(umask: number): Git {
    const other = this.at(this.cwd)
    other.#umask = umask
    return other
  }

  /** What it says. Throws `GitFailed` unless it ends well. */
  async run(args: readonly string[], call: Call = {}): Promise<Buffer> {
    return (await this.expect(args, call)).stdout
  }

  /** The same, with what it says aside. */
  async expect(args: readonly string[], call: Call = {}): Promise<Answer> {
    const answer = await this.ask(args, call)
    if (answer.code === 0) return answer
    throw new GitFailed(args[0] ?? '', answer)
  }

  /** The same, as one line of text. */
  async line(args: readonly string[], call: Call = {}): Promise<string> {
    return (await this.run(args, call)).toString().replace(/\n$/, '')
  }

  /** For those who take no for an answer. */
  ask(args: readonly string[], call: Call = {}): Promise<Answer> {
    const umask = call.umask ?? (isWriter(args) ? this.#umask : undefined)
    const blocks = call.largestFile === undefined ? undefined : Math.floor(call.largestFile / BLOCK)
    if (umask !== undefined || blocks !== undefined)
      return this.script(WRAPPED, [umask?.toString(8) ?? '', `${blocks ?? ''}`, ...args], call)
    return this.#start(this.means.program, [...this.means.options, ...args], call)
  }

  /**
   * Lets a shell run several commands, each by `git COMMAND`: to start a process takes the shell a tenth of the time that it
   * takes us. Only words of our own may be in the script; all others are its arguments.
   */
  script(text: string, args: readonly string[], call: Call = {}): Promise<Answer> {
    const git = `git() { ${commandLine([this.means.program, ...this.means.options])} "$@"; }\n`
    const umask = this.#umask === undefined ? '' : `umask ${this.#umask.toString(8)}\n`
    return this.#start('/bin/sh', ['-c', umask + git + text, 'sh', ...args], call)
  }

  /** What this git must be told about the repository that it runs in. One chain of processes looks a few times a second. */
  protection(): Promise<Protection> {
    const now = performance.now()
    const key = this.#only === undefined ? this.cwd : `${this.cwd}\0${this.#only.gitDir}\0${this.#only.commonDir}`
    const before = this.#looks.get(key)
    if (before !== undefined && now - before.at < FRESH) return before.protection
    const protection = protectionFor(this.cwd, this.means, this.#only)
    this.#looks.set(key, { at: now, protection })
    return protection
  }

  async #start(program: string, args: readonly string[], call: Call): Promise<Answer> {
    const { means, cwd, signal } = this
    if (signal.aborted) throw calledOff(signal)
    const { settings, env: safe } = await this.protection()
    if (call.index !== undefined && lstat(call.index)?.isSymbolicLink()) throw new Unkept(`${call.index} is a link`)
    const index = call.index === undefined ? {} : { GIT_INDEX_FILE: call.index }
    const all = [...settings, ...(call.index === undefined ? [] : WITHOUT_HASH), ...(call.settings ?? [])]
    const given: Record<string, string> = { ...means.env, ...safe, ...asVariables(all), ...index, ...call.env }
    const env = { ...given, ...(call.reaches || given['GIT_NO_LAZY_FETCH'] === '0' ? {} : NO_PROTOCOL) }
    const input = call.input === undefined ? {} : { input: call.input }
    const most = call.most === undefined ? {} : { most: call.most }
    const how = { cwd, env, grace: GRACE, ...input, ...most }
    return this.#inTime(ending => runForBytes(program, args, { ...how, signal: ending }))
  }

  /** Ends a process when its time is over, when it is called off, and when it waits for something that never comes. */
  async #inTime(work: (ending: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const ending = new AbortController()
    const end = (): void => ending.abort(this.signal.reason)
    this.signal.addEventListener('abort', end)
    const endLate = (): void => ending.abort(new DOMException('git did not finish in time', 'TimeoutError'))
    // A timer of our own: Node 20 forgets a signal that was made of a timeout and others.
    const timer = setTimeout(endLate, Math.max(0, this.#until - Date.now()))
    const unwatch = watchForPipes(this.cwd, cause => ending.abort(cause))
    try {
      const answer = await work(ending.signal)
      if (ending.signal.aborted) throw calledOff(ending.signal)
      return answer
    } finally {
      unwatch()
      clearTimeout(timer)
      this.signal.removeEventListener('abort', end)
    }
  }
}

/** Commands by which we have git write objects and refs. */
const WRITERS = new Set([
  'read-tree',
  'update-index',
  'write-tree',
  'commit-tree',
  'fast-import',
  'fetch',
  'update-ref',
  'worktree',
])

function isWriter(args: readonly string[]): boolean {
  const at = args.findIndex((word, index) => word !== '-c' && args[index - 1] !== '-c')
  return WRITERS.has(args[at] ?? '')
}

function asVariables(settings: readonly Setting[]): Record<string, string> {
  if (settings.length === 0) return {}
  const pairs = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ])
  return { GIT_CONFIG_COUNT: `${settings.length}`, ...Object.fromEntries(pairs) }
}

function calledOff({ reason }: AbortSignal): Error {
  if (reason instanceof Unkept) return reason
  const isLate = reason instanceof Error && reason.name === 'TimeoutError'
  return new Error(isLate ? 'git did not finish in time' : 'it was cancelled')
}
