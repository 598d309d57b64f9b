import type { Place } from '../place.ts'

/** Commits, newest first. `authoredAt`: seconds since 1970; a commit that is picked or rebased keeps it. */
export async function logOf(
  { git }: Pick<Place, 'git'>,
  words: readonly string[],
): Promise<{ id: string; subject: string; parents: readonly string[]; authoredAt: number }[]> {
  const said = (await git.run(['log', '-z', '--no-color', '--format=%at %H %P%n%s', ...words])).toString()
  return said
    .split('\0')
    .filter(line => line !== '')
    .map(line => {
      const [authoredAt, id = '', ...parents] = line.slice(0, line.indexOf('\n')).trim().split(' ')
      return { id, subject: line.slice(line.indexOf('\n') + 1), parents, authoredAt: Number(authoredAt) }
    })
}
