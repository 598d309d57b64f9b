import type { CheckpointFetcher, CheckpointReader } from '../../../ports/checkpoints.ts'
import type { Home } from '../../../state/home.ts'
import { gitCheckpoints } from './git-checkpoints.ts'

// Views import checkpoints from this file alone, so that the compiler refuses a view that saves or restores.

export function checkpointReader(home: Home): CheckpointReader {
  return gitCheckpoints(home)
}

export function checkpointFetcher(home: Home): CheckpointFetcher {
  return gitCheckpoints(home)
}
