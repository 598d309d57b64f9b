import type { Place } from './place.ts'

/** The commit that is checked out; null where there is none yet. */
export async function headOf({ git }: Place): Promise<string | null> {
  const answer = await git.ask(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])
  return answer.code === 0 ? answer.stdout.toString().trim() : null
}
