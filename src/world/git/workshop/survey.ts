import type { Surveyed } from '../../../ports/workshop.ts'
import type { Place } from '../place.ts'
import { headNow } from './return-to.ts'

const STATUS = ['status', '--porcelain', '-z', '--untracked-files=normal', '--ignore-submodules=dirty'] as const

export async function survey(place: Place): Promise<Surveyed> {
  const { git, repository } = place
  const { branch, commit } = await headNow(place)
  return {
    top: repository.top,
    gitDir: repository.gitDir,
    branch,
    head: commit,
    isClean: (await git.run(STATUS)).length === 0,
  }
}
