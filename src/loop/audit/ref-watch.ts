import type { LoopTask } from '../../core/loop/loop.ts'
import { FEW, short } from '../../core/loop/restore-command.ts'
import { commandLine } from '../../lib/quote.ts'
import { bytesOf, shown } from '../../lib/raw-path.ts'
import type { AgentCommand, UserRefs, Workshop } from '../../ports/workshop.ts'

/** A branch or tag that is not where it was; `to`: null where it is gone. */
interface Moved {
  readonly ref: string
  readonly from: string
  readonly to: string | null
  readonly isAgents: boolean
}

/**
 * Watches the user's branches, tags and stashes while agents work. The user may move them at any time: only what the git commands of an
 * agent name counts as its deed, and a deletion is told whoever it was.
 */
export class RefWatch {
  readonly #workshop: Workshop
  readonly #cwd: string
  readonly #id: string
  /** Branches and tags that agents made are theirs. */
  readonly #ofAgents = new Set<string>()
  #known: UserRefs | null = null
  /** Seconds since 1970; what was seen to be done by then is told. */
  #lookedAt = 0

  constructor(given: { workshop: Workshop; cwd: string; id: string }) {
    this.#workshop = given.workshop
    this.#cwd = given.cwd
    this.#id = given.id
  }

  /** Looks before an iteration; only the first time counts. */
  async begin(): Promise<void> {
    this.#known ??= await this.#workshop.userRefs(this.#cwd)
  }

  /** Looks after an iteration, and answers what was lost, one sentence each. `trace`: where its agent's git commands are written down. */
  async look({ item }: LoopTask, trace: string | null): Promise<readonly string[]> {
    const before = this.#known
    const now = await this.#workshop.userRefs(this.#cwd)
    if (before === null || now === null) return []
    this.#known = now
    const all = trace === null ? [] : this.#workshop.commandsIn(trace)
    const commands = all.filter(({ from }) => from >= this.#lookedAt)
    this.#lookedAt = Date.now() / 1000
    for (const ref of now.refs.keys()) if (!before.refs.has(ref) && isNamed(ref, commands)) this.#ofAgents.add(ref)
    const { branch } = await this.#workshop.head(this.#cwd)
    const moved = [...before.refs].flatMap(([ref, from]): Moved[] => {
      const to = now.refs.get(ref) ?? null
      if (to === from || this.#ofAgents.has(ref) || ref === `refs/heads/${branch}`) return []
      const isAgents = isNamed(ref, commands)
      return isAgents || to === null ? [{ ref, from, to, isAgents }] : []
    })
    const lost = commands.some(isStashDropping) ? before.stashes.filter(id => !now.stashes.includes(id)) : []
    const who = `the agent of task ${item.label}`
    return [...(await this.#tellMoved(moved, who, item.label)), ...tellStashes(lost, who)]
  }

  async #tellMoved(moved: readonly Moved[], who: string, label: string): Promise<string[]> {
    if (moved.length === 0) return []
    const kept = `${this.#id}/refs`
    await this.#workshop.keepRefs(this.#cwd, kept, new Map(moved.map(({ ref, from }) => [ref, from])))
    if (moved.length <= FEW) return moved.map(one => tell(one, who, label))
    const names = moved.slice(0, FEW).map(({ ref }) => nameOf(ref))
    const cure = commandLine(['git', 'fetch', '.', `+refs/oneshot-loop/work/${kept}/*:refs/*`])
    return [
      `${names.join(', ')} and ${moved.length - FEW} more branches and tags were deleted or moved while an agent worked on task ${label}: \`${cure}\` brings them back`,
    ]
  }
}

function tell({ ref, from, to, isAgents }: Moved, who: string, label: string): string {
  const [kind, name] = [ref.startsWith('refs/tags/') ? 'tag' : 'branch', nameOf(ref)]
  const cure = commandLine(['git', kind, ...(to === null ? [] : ['-f']), name, short(from)])
  const what =
    to === null
      ? isAgents
        ? `${who} deleted your ${kind} ${name}`
        : `your ${kind} ${name} was deleted while an agent worked on task ${label}`
      : `${who} moved your ${kind} ${name} from ${short(from)} to ${short(to)}`
  return `${what}: \`${cure}\` brings it back`
}

function tellStashes(lost: readonly string[], who: string): string[] {
  return lost.slice(0, FEW).map(id => `${who} dropped a stash of yours: \`git stash store ${id}\` brings it back`)
}

function nameOf(ref: string): string {
  return shown(ref.replace(/^refs\/(?:heads|tags)\//, ''))
}

/** Whether a command names it, as a word or within one: `origin x:y`, `refs/heads/x`. */
function isNamed(ref: string, commands: readonly AgentCommand[]): boolean {
  const name = bytesOf(ref.replace(/^refs\/(?:heads|tags)\//, '')).toString()
  const forms = new Set([name, bytesOf(ref).toString(), `heads/${name}`, `tags/${name}`])
  return commands.some(({ argv }) =>
    argv.some(word => word.split(':').some(part => forms.has(part.replace(/^\+/, '')))),
  )
}

function isStashDropping({ name, argv }: AgentCommand): boolean {
  return name === 'stash' && argv.some(word => ['drop', 'clear', 'pop'].includes(word))
}
