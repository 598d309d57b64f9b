import type { Event } from '../../core/events.ts'
import type { Session, Spec } from '../../core/session.ts'
import type { Duration } from '../../lib/time.ts'
import { Crash, type Moment, Power } from './power.ts'
import type { Program } from './scripted-process.ts'
import { Stage, type Supervisor, specOf } from './stage.ts'

/** A piece of work from its beginning to its end, and what its user does meanwhile. */
export interface Story {
  readonly spec: Partial<Spec> & Pick<Spec, 'agent'>
  readonly program: Program
  /** The user stops it this long after the beginning. */
  readonly stopAfter?: Duration
}

/** All that is left when a story is over, and must be the same however often the supervisor died on the way. */
export interface Ending {
  readonly session: Omit<Session, 'spec'>
  readonly events: readonly Event[]
  readonly transcript: string
  /** Each process that was ever started, in order. */
  readonly starts: readonly string[]
  readonly alive: readonly string[]
  readonly pending: number
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
}

/** Lives through a story. The first supervisor loses its power at the first moment, its successor at the second … */
export async function tell(story: Story, moments: readonly Moment[] = []): Promise<Told> {
  const stage = new Stage({ [story.spec.agent]: story.program })
  const powers = [...moments.map(moment => new Power(moment)), new Power()]
  const supervisors: Supervisor[] = []
  const user = new User(stage, story)
  for (const power of powers) {
    const supervisor = stage.supervisor(power)
    supervisors.push(supervisor)
    await untilCrash(() => seeThrough(stage, supervisor, user))
    if (!power.hasFailed) break
    stage.machine.ears.clear()
  }
  const calls = supervisors.map(({ power }) => power.calls)
  return { ending: endingOf(stage, user.id), calls, crashes: powers.filter(power => power.hasFailed).length }
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
      const files = { prompt: Buffer.from('do it'), env: {} }
      await engine.create({ ...specOf(this.#story.spec), id: this.id, createdAt: now }, files)
    } else if (now >= session.spec.createdAt + (this.#story.stopAfter ?? Infinity) && session.wanted !== 'stop') {
      await engine.stop(this.id)
    }
  }

  /** When it wants something next; not later than that somebody must ask it. */
  bell(ring: () => void): void {
    const { stopAfter } = this.#story
    if (stopAfter !== undefined) this.#stage.clock.ring(this.#stage.clock.now() + stopAfter, ring)
  }
}

async function seeThrough(stage: Stage, supervisor: Supervisor, user: User): Promise<void> {
  const { engine, power } = supervisor
  await engine.start()
  user.bell(() => undefined)
  while (!power.hasFailed && !stage.hasEnded(user.id)) {
    await user.act(supervisor)
    if (!power.hasFailed && !stage.hasEnded(user.id) && !(await stage.clock.next())) return
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
  const named = (key: string): string => (key.startsWith(`${id}.`) ? key.slice(id.length + 1) : key)
  const { spec: _, ...session } = stage.session(id) as Session
  return {
    session,
    events: stage.events(id),
    transcript: stage.transcript(id),
    starts: machine.starts.map(named),
    alive: machine.alive(),
    pending: stage.disk.outbox.length,
    letters: [...machine.letters],
    panes: [...machine.panes],
    troubles: stage.troubles,
  }
}
