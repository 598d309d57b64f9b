import path from 'node:path'
import { NO_WEAKENING, type Weakenings, weakenings } from '../core/guard/weakening.ts'
import type { Sighting } from '../core/loop/evidence.ts'
import { withTexts } from '../world/git/workshop/with-texts.ts'
import type { Gear } from './gear.ts'

/** What was done, from the beginning of a task to now, that makes the proof of its work weaker. */
export async function weakeningsIn(
  cwd: string,
  { changed }: Pick<Sighting, 'changed'>,
  gear: Gear,
): Promise<Weakenings> {
  if (changed.length === 0) return NO_WEAKENING
  const { layout, spec, workshop } = gear
  const top = layout.topOf(cwd)
  const { changes, read } = await withTexts(workshop, { cwd, top }, changed)
  const fromTop = (pattern: string): string => path.join(layout.inner, pattern)
  const { protect = [], allow = [] } = spec.guard ?? {}
  const check = spec.check === null ? null : { line: spec.check.line, folder: layout.inner, top }
  return weakenings(changes, { check, protect: protect.map(fromTop), allow: allow.map(fromTop) }, read)
}
