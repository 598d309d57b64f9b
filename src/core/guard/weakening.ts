import { matchesGlob } from '../../lib/glob.ts'
import { type Check, changedCheck, type ReadBefore } from './check-definition.ts'
import type { FileChange, Weakening } from './file-change.ts'
import { lostTests } from './lost-tests.ts'

export interface Guard {
  /** Null: nothing is run, and only tests and protected files are watched. */
  readonly check: Check | null
  /** Patterns, from the top of the repository. */
  readonly protect: readonly string[]
  readonly allow: readonly string[]
}

/** What speaks against a piece of work, and what was allowed of it. */
export interface Weakenings {
  readonly refused: readonly string[]
  readonly allowed: readonly string[]
}

export const NO_WEAKENING: Weakenings = { refused: [], allowed: [] }

/** Finds what makes the proof of a piece of work weaker: tests that no longer run, another check, changes to protected files. */
export function weakenings(changes: readonly FileChange[], guard: Guard, read: ReadBefore): Weakenings {
  const found = [
    ...guarded(changes, guard.protect),
    ...(guard.check === null ? [] : changedCheck(guard.check, changes, read)),
    ...lostTests(changes),
  ]
  const first = found.filter(({ path }, at) => found.findIndex(other => other.path === path) === at)
  const isAllowed = ({ path }: Weakening): boolean => guard.allow.some(pattern => matchesGlob(path, pattern))
  const told = (these: readonly Weakening[]): string[] => these.map(({ path, what }) => `${path}: ${what}`)
  return { refused: told(first.filter(one => !isAllowed(one))), allowed: told(first.filter(isAllowed)) }
}

function guarded(changes: readonly FileChange[], patterns: readonly string[]): Weakening[] {
  return changes
    .filter(({ path, before, after }) => before !== after && patterns.some(pattern => matchesGlob(path, pattern)))
    .map(({ path, after }) => ({
      path,
      what: after === null ? 'is protected and was deleted' : 'is protected and was changed',
    }))
}
