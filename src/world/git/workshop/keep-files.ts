import { bytesOf } from '../../../lib/raw-path.ts'
import type { KeptFile } from '../../../ports/workshop.ts'
import { GitFailed } from '../git-failed.ts'
import { OURS } from '../identity.ts'
import type { Place } from '../place.ts'
import { UPDATE_REF } from '../ref.ts'
import { WORK_REFS } from './shop.ts'
import { withIndex } from './tree-without.ts'

/** Makes a tree of nothing but these files. A ref that is named after the tree keeps it. */
export async function keepFiles(place: Place, name: string, files: readonly KeptFile[]): Promise<string> {
  const input = bytesOf(files.map(({ path, entry }) => `${entry}\t${path}\0`).join(''))
  const env = { ...OURS, GIT_AUTHOR_DATE: '@0 +0000', GIT_COMMITTER_DATE: '@0 +0000' }
  return withIndex(place, async index => {
    const answer = await place.git.script(KEEP_FILES, [`${WORK_REFS}/${name}`], { index, input, env })
    if (answer.code !== 0) throw new GitFailed('update-index', answer)
    return answer.stdout.toString().trim()
  })
}

const KEEP_FILES = `
git update-index -z --index-info || exit
tree=$(git write-tree) || exit
commit=$(git commit-tree "$tree" -m 'oneshot: files that were lost' </dev/null) || exit
git ${UPDATE_REF.join(' ')} "$1-$tree" "$commit" || exit
echo "$tree"
`
