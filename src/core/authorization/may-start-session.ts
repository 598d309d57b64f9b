import type { SessionId } from '../session/session-id-and-name.ts'
import type { Session, Spec } from '../session/session-state.ts'
import type { SupervisionRequest } from '../session/supervision-options.ts'

/** From the most rights to the least. */
const AUTONOMY: readonly Spec['autonomy'][] = ['full', 'edits', 'ask']

/** The request of a session that starts another one. */
export interface StartRequest {
  readonly agent: string
  readonly argv: readonly string[]
  readonly autonomy?: Spec['autonomy']
  readonly supervision: SupervisionRequest
}

/**
 * Returns the reason why a session may not start this one, or null if it may. A session gives nobody more rights than
 * it has.
 */
export function reasonNotToStart(wanted: StartRequest, caller: Spec): string | null {
  const { autonomy = 'full', supervision } = wanted
  if (caller.autonomy === 'full') return null
  if (wanted.agent === 'command') return 'a command may do anything'
  if (AUTONOMY.indexOf(autonomy) < AUTONOMY.indexOf(caller.autonomy)) return `the autonomy ${autonomy} is more`
  if (wanted.argv.length > 0) return 'arguments for the program may give it more rights'
  if (supervision.onExit !== undefined) return 'a command that is run at the end may do anything'
  if ((supervision.verify?.check ?? null) !== null) return 'a check may do anything'
  if (supervision.beads === true && caller.supervision.beads !== true) return 'bd runs hooks of the project'
  return (supervision.saving?.push ?? null) === null ? null : 'pushing checkpoints sends something'
}

/** The limit for one session with all its descendants: more would be a fork bomb. */
const MAX_DESCENDANTS = 32
/** The limit for sessions that start sessions that start sessions: each generation is the child of the one before. */
const MAX_GENERATIONS = 8

/** Returns the reason why a session may not start one more, or null if it may. */
export function reasonNotToStartMore(caller: Session, sessions: readonly Session[]): string | null {
  const known = specsById(sessions)
  const line = ancestorsOf(caller.spec, known)
  if (line.length >= MAX_GENERATIONS) return `it is number ${line.length} in a line of sessions that started each other`
  const first = line.at(-1) ?? caller.spec
  const live = sessions.filter(({ spec, phase }) => phase.name !== 'ended' && spec.id !== first.id)
  const many = live.filter(({ spec }) => isDescendant(spec, first.id, known)).length
  return many < MAX_DESCENDANTS ? null : `${many} sessions that ${first.name} has started are alive`
}

/** Returns true if the target is the caller itself or one of its descendants. */
export function isOwnOrDescendant(target: Session, caller: Session, known: SpecsById): boolean {
  return isDescendant(target.spec, caller.spec.id, known)
}

/** Sessions by their ids. */
export type SpecsById = Pick<ReadonlyMap<SessionId, Spec>, 'get'>

export function specsById(sessions: readonly Session[]): SpecsById {
  return new Map(sessions.map(({ spec }) => [spec.id, spec]))
}

export function isDescendant(spec: Spec, id: SessionId, known: SpecsById): boolean {
  return ancestorsOf(spec, known).some(ancestor => ancestor.id === id)
}

/** Returns a session, its starter, the starter's starter, and so on. */
export function ancestorsOf(first: Spec, known: SpecsById): Spec[] {
  const line = new Map<string, Spec>()
  let spec: Spec | undefined = first
  while (spec !== undefined && !line.has(spec.id)) {
    line.set(spec.id, spec)
    const starter: SessionId | undefined = spec.startedBy ?? spec.parent?.id
    spec = starter === undefined ? undefined : known.get(starter)
  }
  return [...line.values()]
}
