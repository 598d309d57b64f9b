import { readRegular } from '../../os/files.ts'

/** Bytes; the agent can write anything there. */
const LONGEST = 64 * 1_048_576

/** A git command that somebody ran, as git itself has written it down (`GIT_TRACE2_EVENT`). */
export interface TracedCommand {
  readonly name: string
  readonly argv: readonly string[]
  /** The working tree it was run in; null where that is not known. */
  readonly worktree: string | null
  /** Seconds since 1970. */
  readonly from: number
  readonly until: number | null
  /** It may have made a commit. */
  readonly isCommitting: boolean
}

const COMMITTING: ReadonlySet<string> = new Set([
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

/** Commands that change files, HEAD or the branch that is checked out. */
const CHANGING: ReadonlySet<string> = new Set([
  ...COMMITTING,
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

/** From anywhere in a repository these move any branch of it. */
function isReaching({ name, argv }: TracedCommand): boolean {
  return (
    name === 'update-ref' ||
    (name === 'branch' && argv.some(word => /^(?:-[fMmDdC]|--force|--move|--delete)/.test(word)))
  )
}

export function hasTouched(trace: string, top: string): boolean {
  return commandsIn(trace).some(
    command => isReaching(command) || (CHANGING.has(command.name) && (command.worktree ?? top) === top),
  )
}

interface TraceEvent {
  readonly event: string
  readonly sid: string
  readonly time?: string
  readonly name?: string
  readonly worktree?: string
  readonly code?: number
  readonly argv?: readonly string[]
}

/** Commands that were run; none where nothing was written down. */
export function commandsIn(file: string): TracedCommand[] {
  const bySid = new Map<string, { -readonly [K in keyof TracedCommand]: TracedCommand[K] }>()
  for (const { event, sid, time, name, worktree, code, argv = [] } of eventsIn(file)) {
    const at = time === undefined ? 0 : Date.parse(time) / 1000
    const known = bySid.get(sid)
    if (known === undefined) {
      bySid.set(sid, { name: '', argv, worktree: null, from: at, until: null, isCommitting: false })
    } else if (event === 'cmd_name' && name !== undefined) {
      known.name = name
      known.isCommitting = COMMITTING.has(name)
    } else if (event === 'start') known.argv = argv
    else if (event === 'def_repo') known.worktree = worktree ?? null
    else if (event === 'exit' || event === 'signal') {
      known.until = at
      known.isCommitting &&= event === 'signal' || code === 0
    }
  }
  return [...bySid.values()]
}

function eventsIn(file: string): TraceEvent[] {
  let text: string
  try {
    text = readRegular(file, LONGEST).content.toString()
  } catch {
    return [] // No git was run, or the file is none that git has written.
  }
  return text.split('\n').flatMap(line => {
    if (!/"event":"(?:version|start|cmd_name|def_repo|exit|signal)"/.test(line)) return []
    try {
      return [JSON.parse(line) as TraceEvent]
    } catch {
      return [] // Two that wrote at once.
    }
  })
}
