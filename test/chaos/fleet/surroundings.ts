import type { Findings } from '../checks/findings.ts'
import type { Theatre } from '../stage/theatre.ts'
import type { User } from './user.ts'

/** What every session of the fleet needs. */
export interface Surroundings {
  readonly theatre: Theatre
  readonly user: User
  readonly findings: Findings
  /** Told of moments worth being struck at. */
  readonly onMoment: (moment: 'launched' | 'accepted') => void
}
