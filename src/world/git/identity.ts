import type { Git } from './git.ts'

/** Who has made it, where the user is not to be named, or cannot. */
export const OURS = {
  GIT_AUTHOR_NAME: 'oneshot',
  GIT_AUTHOR_EMAIL: 'oneshot@localhost',
  GIT_COMMITTER_NAME: 'oneshot',
  GIT_COMMITTER_EMAIL: 'oneshot@localhost',
} as const

/** For commits that the user will meet: git takes the user's own identity, where there is one. */
export async function identityIn(git: Git): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await git.ask(['config', '--get-regexp', '^user\\.(name|email)$'])
  const said = stdout.toString()
  return /^user\.name ./m.test(said) && /^user\.email ./m.test(said) ? {} : OURS
}
