import type { Surveyed } from '../../../ports/workshop.ts'
import { headOf } from '../head.ts'
import type { Place } from '../place.ts'

const STATUS = ['status', '--porcelain', '-z', '--untracked-files=normal', '--ignore-submodules=dirty'] as const

export async function survey(place: Place): Promise<Surveyed> {
  const { git, repository } = place
  const branch = await git.ask(['symbolic-ref', '--quiet', '--short', 'HEAD'])
  return {
    top: repository.top,
    gitDir: repository.gitDir,
    branch: branch.code === 0 ? branch.stdout.toString().trim() : null,
    head: await headOf(place),
    isClean: (await git.run(STATUS)).length === 0,
  }
}
