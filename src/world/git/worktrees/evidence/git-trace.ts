import { readRegularFile } from '../../../../os/files/file-io.ts'
import { count, listOf, object, optional, string, tryParseJson } from '../../../../lib/codec.ts'
import fs from 'node:fs'
import path from 'node:path'
import type { Git } from '../../git.ts'
import type { Repository } from '../../repository.ts'

/** Bytes; the agent can write anything to this file. */
const MAX_TRACE_SIZE = 64 * 1_048_576

/** A git command from git's own trace (`GIT_TRACE2_EVENT`). */
export interface TracedCommand {
  readonly name: string
  readonly argv: readonly string[]
  /** The worktree that it ran in; null if unknown. */
  readonly worktree: string | null
  /** Seconds since 1970. */
  readonly from: number
  readonly until: number | null
  /** True if it may have created a commit. */
  readonly isCommitting: boolean
}

const COMMIT_COMMANDS: ReadonlySet<string> = new Set([
  'commit',
  'merge',
  'pull',
  'rebase',
  'cherry-pick',
  'revert',
  'am',
  'commit-tree',
  'update-ref',
  'fast-import',
  'filter-branch',
])

/** Commands that change files, HEAD or the current branch. */
const CHANGE_COMMANDS: ReadonlySet<string> = new Set([
  ...COMMIT_COMMANDS,
  'reset',
  'checkout',
  'switch',
  'restore',
  'clean',
  'stash',
  'rm',
  'mv',
  'apply',
  'read-tree',
  'symbolic-ref',
  'branch',
])

/** Returns true for a command that can move any branch from anywhere in the repository. */
function movesAnyBranch({ name, argv }: TracedCommand): boolean {
  return (
    name === 'update-ref' ||
    (name === 'branch' && argv.some(word => /^(?:-[fMmDdC]|--force|--move|--delete)/.test(word)))
  )
}

export function hasChangedCheckout(trace: string, top: string): boolean {
  return readTrace(trace).some(
    command => movesAnyBranch(command) || (CHANGE_COMMANDS.has(command.name) && (command.worktree ?? top) === top),
  )
}

const parseTraceEvent = object({
  event: string,
  sid: string,
  time: optional(string),
  name: optional(string),
  worktree: optional(string),
  code: optional(count),
  argv: optional(listOf(string)),
})

type TraceEvent = ReturnType<typeof parseTraceEvent>

/** Returns the traced commands; none if there is no trace. */
export function readTrace(file: string): TracedCommand[] {
  const bySid = new Map<string, { -readonly [K in keyof TracedCommand]: TracedCommand[K] }>()
  for (const { event, sid, time, name, worktree, code, argv = [] } of readEvents(file)) {
    const at = time === undefined ? 0 : Date.parse(time) / 1000
    const known = bySid.get(sid)
    if (known === undefined) {
      bySid.set(sid, { name: '', argv, worktree: null, from: at, until: null, isCommitting: false })
    } else if (event === 'cmd_name' && name !== undefined) {
      known.name = name
      known.isCommitting = COMMIT_COMMANDS.has(name)
    } else if (event === 'start') known.argv = argv
    // A command may open nested repositories after its own.
    else if (event === 'def_repo') known.worktree ??= worktree ?? null
    else if (event === 'exit' || event === 'signal') {
      known.until = at
      known.isCommitting &&= event === 'signal' || code === 0
    }
  }
  return [...bySid.values()]
}

function readEvents(file: string): TraceEvent[] {
  let text: string
  try {
    text = readRegularFile(file, MAX_TRACE_SIZE).content.toString()
  } catch {
    return [] // No git command ran, or git did not write this file.
  }
  return text.split('\n').flatMap(line => {
    if (!/"event":"(?:version|start|cmd_name|def_repo|exit|signal)"/.test(line)) return []
    return tryParseJson(line, parseTraceEvent) ?? [] // Two processes may write at the same time.
  })
}

/** Caches for each folder if git supports tracing. */
const tracingSupport = new Map<string, boolean>()

/**
 * Returns the trace file of a worker: in the git folder, which is writable wherever the worker can commit. Returns null
 * if git does not support tracing (before 2.22).
 */
export async function findTraceFile(git: Git, { gitDir }: Repository, name: string): Promise<string | null> {
  const folder = path.join(gitDir, 'oneshot', 'traces')
  const isKnown = tracingSupport.get(folder) ?? (await isTracingSupported(git, folder))
  tracingSupport.set(folder, isKnown)
  return isKnown ? path.join(folder, name) : null
}

async function isTracingSupported(git: Git, folder: string): Promise<boolean> {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = path.join(folder, 'try')
  await git.tryRun(['version'], { env: { GIT_TRACE2_EVENT: file } })
  const isThere = fs.existsSync(file)
  fs.rmSync(file, { force: true })
  return isThere
}
