import type { Findings } from '../checks/findings.ts'
import type { ChaosEnvironment } from '../environment/chaos-environment.ts'
import type { User } from './user.ts'

/** The parts of a run that every session needs. */
export interface FleetContext {
  readonly environment: ChaosEnvironment
  readonly user: User
  readonly findings: Findings
  /** Called at moments when a fault is most likely to do harm. */
  readonly onMoment: (moment: 'launched' | 'accepted') => void
}
