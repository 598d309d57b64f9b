import type { Dice } from '../dice.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { Story } from '../fleet/story.ts'
import type { User } from '../fleet/user.ts'
import type { Findings } from '../checks/findings.ts'
import type { Theatre } from '../stage/theatre.ts'
import type { Supervisors } from '../watch/supervisors.ts'
import type { Recovery } from './recovered.ts'
import type { Viewers } from './viewers.ts'

/** What faults are made of. */
export interface Scene {
  readonly theatre: Theatre
  readonly fleet: Fleet
  readonly user: User
  readonly supervisors: Supervisors
  readonly viewers: Viewers
  readonly findings: Findings
  readonly moments: { wait: (names: readonly string[], patience: number) => Promise<number | undefined> }
}

/** Something that was done to the run. */
export interface Blow {
  /** On the steady clock. */
  readonly at: number
  readonly kills: number
  /** When all is as it should be. */
  readonly recovery?: Promise<Recovery>
  readonly story?: Story
  /** The recovery is that session's next life. */
  readonly isDeath?: boolean
}

/** Undefined when there is nobody to strike just now. `roll` decides whom. */
export type Fault = (scene: Scene, roll: Dice) => Promise<Blow | undefined>
