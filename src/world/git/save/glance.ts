import { type RawPath, rawPath, splitRaw } from '../../../lib/raw-path.ts'
import { headOf } from '../head.ts'
import type { Place } from '../place.ts'
import { isRule, rulesMark } from './ignored.ts'
import { type Difference, type Look, untracked, warningsIn } from './look.ts'
import type { PrivateIndex } from './private-index.ts'

/**
 * The same as a look, for an index that stands for what was saved last: as HEAD and the rules for ignoring files are the same as then,
 * nobody needs to compare it with HEAD. The two halves of the work are done side by side. Null when a whole look is needed.
 */
export async function glance(place: Place, { file: index, notes }: PrivateIndex): Promise<Look | null> {
  // What HEAD has and the index has not would be found again only among ignored files, when it is ignored.
  if (notes === null || notes.hasGaps) return null
  const [head, known, others] = await Promise.all([
    headOf(place),
    place.git.run(['diff-files', '-z', '--raw', '--no-renames', '--ignore-submodules=dirty'], { index }),
    place.git.expect(['ls-files', '-z', '--others', '--exclude-standard'], { index }),
  ])
  const differences = [...readRaw(known), ...splitRaw(others.stdout).map(untracked)]
  const isSame = notes.rules === rulesMark(place, head) && differences.every(one => !one.isUnmerged && !isRule(one))
  return isSame ? { head, differences, warnings: warningsIn(others.stderr) } : null
}

/** `:MODE MODE HASH HASH LETTER`, then the path. */
function readRaw(said: Buffer): Difference[] {
  const words = rawPath(said).split('\0')
  const differences: Difference[] = []
  for (let at = 0; words[at]?.startsWith(':'); at += 2) {
    const [before = '', after = '', , , letter = ''] = (words[at] as string).split(' ')
    const path = words[at + 1] as RawPath
    const isRepository = before === ':160000' || after === '160000'
    differences.push({ path, staged: '.', working: letter, isUnmerged: letter === 'U', isRepository })
  }
  return differences
}
