import type { RandomSource } from '../../../testkit/system/seeded-random.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { ChaosSession } from '../fleet/chaos-session.ts'
import type { User } from '../fleet/user.ts'
import type { Findings } from '../checks/findings.ts'
import type { ChaosEnvironment } from '../environment/chaos-environment.ts'
import type { SupervisorHistory } from '../watch/supervisor-history.ts'
import type { Recovery } from './measure-recovery.ts'
import type { Viewers } from './viewers.ts'

/** The parts of a run that faults use. */
export interface FaultContext {
  readonly environment: ChaosEnvironment
  readonly fleet: Fleet
  readonly user: User
  readonly supervisors: SupervisorHistory
  readonly viewers: Viewers
  readonly findings: Findings
  readonly moments: { wait: (names: readonly string[], patience: number) => Promise<number | undefined> }
}

/** A fault that was injected. */
export interface FaultEffect {
  /** Time on the monotonic clock. */
  readonly at: number
  readonly kills: number
  /** Resolves when everything works again. */
  readonly recovery?: Promise<Recovery>
  readonly story?: ChaosSession
  /** The recovery is the session's next process. */
  readonly isDeath?: boolean
}

/** Returns undefined if there is no possible victim now. `roll` selects the victim. */
export type Fault = (scene: FaultContext, roll: RandomSource) => Promise<FaultEffect | undefined>
