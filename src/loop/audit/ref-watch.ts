import type { LoopTask } from '../../core/loop/loop-state.ts'
import { MAX_LISTED_PATHS, shortHash } from '../../core/loop/lost-work/restore-command.ts'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import { formatCommandLine } from '../../lib/text/shell-words.ts'
import { rawPathBytes, displayPath } from '../../lib/text/raw-path.ts'
import type { GitCommand, UserRefs, Worktrees } from '../../ports/worktrees.ts'

/** A branch or tag that has moved; `to` is null if it is deleted. */
interface MovedRef {
  readonly ref: string
  readonly from: string
  readonly to: string | null
  readonly isByAgent: boolean
}

/** The changes of an iteration to branches, tags and stashes. */
interface RefChanges {
  /** One sentence per loss. */
  readonly notes: readonly string[]
  /** Branches that the agent made and that are not checked out: its work may be there. */
  readonly newBranches: readonly string[]
}

/** Describes where an agent that changed nothing here may have worked. */
export function describeNewBranches({ item }: LoopTask, branches: readonly string[]): string[] {
  return branches.slice(0, MAX_LISTED_PATHS).map(ref => {
    const name = shortName(ref)
    const merge = formatCommandLine(['git', 'merge', name.startsWith('-') ? `heads/${name}` : name])
    return `the agent of task ${item.label} changed no file here, and made the branch ${name}: \`${merge}\` brings its commits`
  })
}

/**
 * Watches the user's branches, tags and stashes while agents work. The user may move them at any time: the watch blames
 * an agent only for refs that its git commands name, and reports every deletion.
 */
export class RefWatch {
  readonly #worktrees: Worktrees
  readonly #cwd: string
  readonly #id: SessionId
  /** Branches and tags that agents created; agents may move them. */
  readonly #agentRefs = new Set<string>()
  #known: UserRefs | null = null
  /** Seconds since 1970; the watch has reported earlier commands. */
  #inspectedAt = 0

  constructor(given: { worktrees: Worktrees; cwd: string; id: SessionId }) {
    this.#worktrees = given.worktrees
    this.#cwd = given.cwd
    this.#id = given.id
  }

  /** Reads the refs before an iteration; only the first call has an effect. */
  async start(): Promise<void> {
    this.#known ??= await this.#worktrees.userRefs(this.#cwd)
  }

  /**
   * Compares the refs after an iteration. `trace`: the file with the agent's git commands.
   */
  async inspect({ item }: LoopTask, trace: string | null): Promise<RefChanges> {
    const before = this.#known
    const now = await this.#worktrees.userRefs(this.#cwd)
    if (before === null || now === null) return { notes: [], newBranches: [] }
    this.#known = now
    const all = trace === null ? [] : this.#worktrees.readTrace(trace)
    const commands = all.filter(({ from }) => from >= this.#inspectedAt)
    this.#inspectedAt = Date.now() / 1000
    const created = [...now.refs.keys()].filter(ref => !before.refs.has(ref) && isMadeBy(ref, commands))
    for (const ref of created) this.#agentRefs.add(ref)
    const { branch } = await this.#worktrees.head(this.#cwd)
    const moved = [...before.refs].flatMap(([ref, from]): MovedRef[] => {
      const to = now.refs.get(ref) ?? null
      if (to === from || this.#agentRefs.has(ref) || ref === `refs/heads/${branch}`) return []
      const isAgents = isNamedBy(ref, commands)
      return isAgents || to === null ? [{ ref, from, to, isByAgent: isAgents }] : []
    })
    const lost = commands.some(isStashDropping) ? before.stashes.filter(id => !now.stashes.includes(id)) : []
    const who = `the agent of task ${item.label}`
    return {
      notes: [...(await this.#describeMoved(moved, who, item.label)), ...describeStashes(lost, who)],
      newBranches: created.filter(ref => ref.startsWith('refs/heads/') && ref !== `refs/heads/${branch}`),
    }
  }

  async #describeMoved(moved: readonly MovedRef[], who: string, label: string): Promise<string[]> {
    if (moved.length === 0) return []
    const kept = `${this.#id}/refs`
    await this.#worktrees.backUpRefs(this.#cwd, kept, new Map(moved.map(({ ref, from }) => [ref, from])))
    if (moved.length <= MAX_LISTED_PATHS) return moved.map(one => describeMove(one, who, label))
    const names = moved.slice(0, MAX_LISTED_PATHS).map(({ ref }) => shortName(ref))
    const remedy = formatCommandLine(['git', 'fetch', '.', `+refs/oneshot-loop/work/${kept}/*:refs/*`])
    return [
      `${names.join(', ')} and ${moved.length - MAX_LISTED_PATHS} more branches and tags were deleted or moved while an agent worked on task ${label}: \`${remedy}\` brings them back`,
    ]
  }
}

function describeMove({ ref, from, to, isByAgent }: MovedRef, who: string, label: string): string {
  const [kind, name] = [ref.startsWith('refs/tags/') ? 'tag' : 'branch', shortName(ref)]
  const remedy = formatCommandLine(['git', kind, ...(to === null ? [] : ['-f']), name, shortHash(from)])
  const what =
    to === null
      ? isByAgent
        ? `${who} deleted your ${kind} ${name}`
        : `your ${kind} ${name} was deleted while an agent worked on task ${label}`
      : `${who} moved your ${kind} ${name} from ${shortHash(from)} to ${shortHash(to)}`
  return `${what}: \`${remedy}\` brings it back`
}

function describeStashes(lost: readonly string[], who: string): string[] {
  return lost
    .slice(0, MAX_LISTED_PATHS)
    .map(id => `${who} dropped a stash of yours: \`git stash store ${id}\` brings it back`)
}

function shortName(ref: string): string {
  return displayPath(ref.replace(/^refs\/(?:heads|tags)\//, ''))
}

/** Returns true if a command names the ref, as a word or within one: `origin x:y`, `refs/heads/x`. */
function isNamedBy(ref: string, commands: readonly GitCommand[]): boolean {
  const name = rawPathBytes(ref.replace(/^refs\/(?:heads|tags)\//, '')).toString()
  const forms = new Set([name, rawPathBytes(ref).toString(), `heads/${name}`, `tags/${name}`])
  return commands.some(({ argv }) =>
    argv.some(word => word.split(':').some(part => forms.has(part.replace(/^\+/, '')))),
  )
}

/** `git worktree add ../x` makes the branch `x`. */
function isMadeBy(ref: string, commands: readonly GitCommand[]): boolean {
  const name = rawPathBytes(ref.replace('refs/heads/', '')).toString()
  const isFolder = (word: string): boolean => word === name || [`/${name}`, `/${name}/`].some(end => word.endsWith(end))
  return isNamedBy(ref, commands) || commands.some(one => one.name === 'worktree' && one.argv.some(isFolder))
}

function isStashDropping({ name, argv }: GitCommand): boolean {
  return name === 'stash' && argv.some(word => ['drop', 'clear', 'pop'].includes(word))
}
