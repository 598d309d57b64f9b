import type { Event } from '../../core/events.ts'
import type { Shown } from '../../core/prove.ts'
import type { Session, Spec } from '../../core/session.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Duration } from '../../lib/time.ts'
import { Superseded } from '../../ports/store.ts'
import { NOTHING_DONE } from './memory-witness.ts'
import { Crash, type Moment, Power } from './power.ts'
import type { Program } from './scripted-process.ts'
import { Stage, type Supervisor, specOf } from './stage.ts'
import { Suspension } from './suspension.ts'
import { settle } from './virtual-clock.ts'

/** A piece of work from its beginning to its end, and what its user does meanwhile. */
export interface Story {
  readonly spec: Partial<Spec> & Pick<Spec, 'agent'>
  readonly program: Program
  /** The user stops it this long after the beginning. */
  readonly stopAfter?: Duration
  /** What the user sends it, and how long after the beginning. */
  readonly sends?: readonly { readonly after: Duration; readonly text: string }[]
  /** Whether the machine can tell at once that nothing of an attempt is left; it can when absent. */
  readonly hasGroups?: boolean
  /** How long it can do without a supervisor and still end the same; 30 s when absent. */
  readonly endures?: Duration
  /** What can be seen of its work at its end; nothing when absent. */
  readonly shown?: Shown
  /** Issues of the project's task tracker that are closed when the story is over. */
  readonly closes?: readonly string[]
}

/** All that is left when a story is over, and must be the same however often the supervisor died on the way. */
export interface Ending {
  readonly session: Omit<Session, 'spec'>
  readonly events: readonly Event[]
  readonly transcript: string
  /** Each process that was ever started, in order. */
  readonly starts: readonly string[]
  readonly alive: readonly string[]
  /** What the agents wrote down of what they were given. */
  readonly records: readonly (readonly [string, readonly string[]])[]
  readonly pending: number
  /** What was recorded to be told, and what of it was heard and run, repetitions left out. */
  readonly notices: readonly string[]
  readonly heard: readonly string[]
  readonly ran: readonly string[]
  /** The issues, each as often as it was closed. */
  readonly closed: readonly string[]
  readonly letters: readonly string[]
  readonly panes: readonly string[]
  readonly troubles: readonly unknown[]
}

export interface Told {
  readonly ending: Ending
  /** The calls to the outside of each supervisor, in order. */
  readonly calls: readonly (readonly string[])[]
  /** How many supervisors lost their power. */
  readonly crashes: number
  /** How often the same was told, or run, at most. */
  readonly tellings: number
}

/** Lives through a story. The first supervisor loses its power at the first moment, its successor at the second … */
export async function tell(
  story: Story,
  moments: readonly Moment[] = [],
  options: { downFor?: Duration } = {},
): Promise<Told> {
  const stage = stageFor(story)
  const powers = [...moments.map(moment => new Power(moment)), new Power()]
  const user = new User(stage, story)
  for (const power of powers) {
    const supervisor = stage.supervisor(power)
    await untilCrash(() => seeThrough(stage, supervisor, user, () => power.hasFailed))
    if (!power.hasFailed) break
    stage.machine.ears.clear()
    await stage.clock.pass(options.downFor ?? 0)
  }
  const calls = powers.map(power => power.calls)
  const all = [...stage.audience.heard, ...stage.audience.ran]
  const tellings = Math.max(0, ...all.map(id => all.filter(other => other === id).length))
  const crashes = powers.filter(power => power.hasFailed).length
  return { ending: endingOf(stage, user.id), calls, crashes, tellings }
}

function stageFor({ shown, spec, program, hasGroups, closes = [] }: Story): Stage {
  const stage = new Stage({ [spec.agent]: program })
  stage.machine.hasGroups = hasGroups ?? true
  stage.shown = shown ?? NOTHING_DONE
  stage.beads.root = closes.length === 0 ? null : '/'
  stage.beads.issues = closes.map(id => ({ id, title: id, state: 'open' }))
  return stage
}

export interface Takeover {
  readonly ending: Ending
  readonly calls: readonly string[]
  /** What the first supervisor called after it was put out of action. */
  readonly afterwards: readonly string[]
}

/** Lives through a story in which the first supervisor is suspended in its n-th call and wakes when another is done. */
export async function tellWithTakeover(story: Story, number: number): Promise<Takeover> {
  const stage = stageFor(story)
  const user = new User(stage, story)
  let successor: Supervisor | undefined
  const suspension = new Suspension(number, () => {
    successor = stage.supervisor()
  })
  const first = stage.supervisor(suspension)
  const sleeper = seeThrough(stage, first, user, () => suspension.hasBegun).catch(tolerateSuperseded)
  await Promise.race([sleeper, suspension.begun])
  if (successor !== undefined) await seeThrough(stage, successor, user)
  suspension.wake()
  await sleeper
  await settle()
  return { ending: endingOf(stage, user.id), calls: suspension.calls, afterwards: suspension.after }
}

function tolerateSuperseded(cause: unknown): void {
  if (!(cause instanceof Superseded)) throw cause
}

/** Keeps asking until it was accepted: who got no answer asks again. */
class User {
  id = ''
  readonly #stage: Stage
  readonly #story: Story
  #asked = 0

  constructor(stage: Stage, story: Story) {
    this.#stage = stage
    this.#story = story
  }

  async act({ engine }: Supervisor): Promise<void> {
    const session = this.#stage.session(this.id)
    const now = this.#stage.clock.now()
    if (session === undefined) {
      this.id = `s${++this.#asked}`
      for (const after of [this.#story.stopAfter ?? 0, ...this.#sends.map(send => send.after)])
        this.#stage.clock.ring(now + after, () => undefined)
      const files = { prompt: Buffer.from('do it'), env: {} }
      await engine.create({ ...specOf(this.#story.spec), id: this.id, createdAt: now }, files)
    } else if (now >= session.spec.createdAt + (this.#story.stopAfter ?? Infinity) && session.wanted !== 'stop') {
      await engine.stop(this.id)
    }
    await this.#sendWhatIsDue(engine)
  }

  /** Whether the story is over once the session has ended. */
  get isContent(): boolean {
    const keys = this.#stage.session(this.id)?.messages.map(message => message.key) ?? []
    const isClosed = (issue: string): boolean => this.#stage.beads.state(issue) === 'done'
    return this.#sends.every(({ text }) => keys.includes(text)) && (this.#story.closes ?? []).every(isClosed)
  }

  async #sendWhatIsDue(engine: Engine): Promise<void> {
    const now = this.#stage.clock.now()
    for (const { after, text } of this.#sends) {
      const session = this.#stage.session(this.id)
      if (session === undefined || now < session.spec.createdAt + after) return
      if (session.messages.some(message => message.key === text)) continue
      await engine.send(this.id, { key: text, gist: text, text: Buffer.from(text) })
    }
  }

  get #sends(): NonNullable<Story['sends']> {
    return this.#story.sends ?? []
  }
}

async function seeThrough(stage: Stage, supervisor: Supervisor, user: User, isOver = () => false): Promise<void> {
  await supervisor.engine.start()
  const hasEnded = (): boolean => stage.hasEnded(user.id) && user.isContent
  while (!isOver() && !hasEnded()) {
    await user.act(supervisor)
    if (!isOver() && !hasEnded() && !(await stage.clock.next())) return
  }
}

async function untilCrash(life: () => Promise<void>): Promise<void> {
  try {
    await life()
  } catch (cause) {
    if (!(cause instanceof Crash)) throw cause
  }
}

/** Ids count how often the user had to ask; they are told alike, so that two endings can be compared. */
function endingOf(stage: Stage, id: string): Ending {
  const { machine } = stage
  const named = (key: string): string =>
    key.startsWith(`${id}.`) || key.startsWith(`${id}-`) ? key.slice(id.length + 1) : key
  const { spec: _, ...session } = stage.session(id) as Session
  return {
    session,
    events: stage.events(id).map(event => (event.type === 'hook.ended' ? { ...event, id: named(event.id) } : event)),
    transcript: stage.transcript(id),
    starts: machine.starts.map(named),
    alive: machine.alive().map(named),
    records: [...machine.records],
    pending: stage.disk.outbox.length,
    notices: stage.disk.notices.map(row => named(row.id)),
    heard: [...new Set(stage.audience.heard.map(line => named(line.replace(/^phone /, ''))))],
    ran: [...new Set(stage.audience.ran.map(named))],
    closed: stage.beads.closed.map(line => line.split(' ')[0] ?? ''),
    letters: [...machine.letters],
    panes: [...machine.panes],
    troubles: stage.troubles,
  }
}
