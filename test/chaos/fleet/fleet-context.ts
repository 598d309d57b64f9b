import type { Findings } from '../checks/findings.ts'
import type { ChaosEnvironment } from '../environment/chaos-environment.ts'
import type { User } from './user.ts'

/** What every session of the fleet needs. */
export interface FleetContext {
  readonly environment: ChaosEnvironment
  readonly user: User
  readonly findings: Findings
  /** Told of moments worth being struck at. */
  readonly onMoment: (moment: 'launched' | 'accepted') => void
}
