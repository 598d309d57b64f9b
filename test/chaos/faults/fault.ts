import type { RandomSource } from '../seeded-random.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { ChaosSession } from '../fleet/chaos-session.ts'
import type { User } from '../fleet/user.ts'
import type { Findings } from '../checks/findings.ts'
import type { ChaosEnvironment } from '../environment/chaos-environment.ts'
import type { SupervisorHistory } from '../watch/supervisor-history.ts'
import type { Recovery } from './measure-recovery.ts'
import type { Viewers } from './viewers.ts'

/** What faults are made of. */
export interface FaultContext {
  readonly environment: ChaosEnvironment
  readonly fleet: Fleet
  readonly user: User
  readonly supervisors: SupervisorHistory
  readonly viewers: Viewers
  readonly findings: Findings
  readonly moments: { wait: (names: readonly string[], patience: number) => Promise<number | undefined> }
}

/** Something that was done to the run. */
export interface FaultEffect {
  /** On the steady clock. */
  readonly at: number
  readonly kills: number
  /** When all is as it should be. */
  readonly recovery?: Promise<Recovery>
  readonly story?: ChaosSession
  /** The recovery is that session's next life. */
  readonly isDeath?: boolean
}

/** Undefined when there is nobody to strike just now. `roll` decides whom. */
export type Fault = (scene: FaultContext, roll: RandomSource) => Promise<FaultEffect | undefined>
