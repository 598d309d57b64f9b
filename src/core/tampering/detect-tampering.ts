import { matchesGlob } from '../../lib/text/glob.ts'
import { type CheckCommand, findChangesToCheck, type ReadBefore } from './find-changes-to-check.ts'
import type { EditedFile, TamperedFile } from './test-file.ts'
import { type ChangedTestFile, findChangedTests } from './changed-tests.ts'
import { findRemovedTests } from './removed-tests.ts'

export interface TamperingRules {
  /** Null: no check runs, and the rules cover only tests and protected files. */
  readonly check: CheckCommand | null
  /** Glob patterns, from the top of the repository. */
  readonly protect: readonly string[]
  readonly allow: readonly string[]
}

/** The objections to a piece of work, and those that the user's patterns allow. */
export interface TamperingReport {
  readonly refused: readonly string[]
  readonly allowed: readonly string[]
  /** Existing tests in which lines were changed or removed, and those with added lines only, as `PATH (+1 -1)`. */
  readonly changedTests?: readonly string[]
  readonly extendedTests?: readonly string[]
}

export const NO_TAMPERING: TamperingReport = { refused: [], allowed: [] }

/**
 * Finds changes that weaken the proof of a piece of work: tests that no longer run, another check, changes to protected
 * files.
 */
export function detectTampering(
  changes: readonly EditedFile[],
  guard: TamperingRules,
  read: ReadBefore,
): TamperingReport {
  const found = [
    ...findProtectedChanges(changes, guard.protect),
    ...(guard.check === null ? [] : findChangesToCheck(guard.check, changes, read)),
    ...findRemovedTests(changes),
  ]
  const first = found.filter(({ path }, at) => found.findIndex(other => other.path === path) === at)
  const isAllowed = ({ path }: { path: string }): boolean => guard.allow.some(pattern => matchesGlob(path, pattern))
  const describeAll = (these: readonly TamperedFile[]): string[] => these.map(({ path, what }) => `${path}: ${what}`)
  const named = new Set(first.map(({ path }) => path))
  const tests = findChangedTests(changes).filter(({ path }) => !named.has(path))
  const changed = tests.filter(({ isExtended }) => !isExtended)
  return {
    refused: describeAll(first.filter(one => !isAllowed(one))),
    allowed: [
      ...describeAll(first.filter(isAllowed)),
      ...changed.filter(isAllowed).map(test => `changed existing tests: ${formatTest(test)}`),
    ],
    changedTests: changed.filter(test => !isAllowed(test)).map(formatTest),
    extendedTests: tests.filter(({ isExtended }) => isExtended).map(formatTest),
  }
}

function formatTest({ path, added, removed }: ChangedTestFile): string {
  return `${path} (+${added} -${removed})`
}

function findProtectedChanges(changes: readonly EditedFile[], patterns: readonly string[]): TamperedFile[] {
  return changes
    .filter(({ path, before, after }) => before !== after && patterns.some(pattern => matchesGlob(path, pattern)))
    .map(({ path, after }) => ({
      path,
      what: after === null ? 'is protected and was deleted' : 'is protected and was changed',
    }))
}
