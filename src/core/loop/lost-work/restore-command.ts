import { formatCommandLine } from '../../../lib/text/shell-words.ts'
import { rawPathBytes, type RawPath } from '../../../lib/text/raw-path.ts'

/** More paths than this make no readable command. */
export const MAX_LISTED_PATHS = 5

/** Matches names that a terminal or a shell line cannot hold: control characters, and bytes that are no text. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffd]/

/** Returns true if a command line can name these paths one by one. */
export function canBeListed(paths: readonly RawPath[]): boolean {
  return paths.length <= MAX_LISTED_PATHS && paths.every(path => !UNPRINTABLE.test(rawPathBytes(path).toString()))
}

/** `isIgnored`: git ignores some of the files. It sees them only after somebody has committed them. */
interface RestoreOptions {
  readonly isIgnored?: boolean
}

/**
 * Returns the command that restores paths from a commit or tree. `isTop`: the user's shell is at the top of the
 * checkout.
 */
export function restorePathsCommand(
  source: string,
  paths: readonly RawPath[],
  isTop: boolean,
  options: RestoreOptions = {},
): string {
  return restoreCommand([], source, ['--', ...paths.map(path => pathspec(path, isTop))], options)
}

/** Returns the command that restores all files of a tree, and removes nothing else. */
export function restoreTreeCommand(tree: string, options: RestoreOptions = {}): string {
  return restoreCommand(['--overlay'], tree, ['--', ':/'], options)
}

function restoreCommand(
  how: readonly string[],
  source: string,
  which: readonly string[],
  { isIgnored = false }: RestoreOptions,
): string {
  const where = isIgnored ? ['--staged', '--worktree'] : []
  const restore = formatCommandLine(['git', 'restore', ...how, ...where, `--source=${shortHash(source)}`, ...which])
  return isIgnored ? `${restore} && git commit` : restore
}

/** Returns the command that commits files that git ignores. */
export function trackPathsCommand(paths: readonly RawPath[], isTop: boolean): string {
  const add = formatCommandLine(['git', 'add', '--force', '--', ...paths.map(path => pathspec(path, isTop))])
  return `${add} && git commit`
}

/** Returns the command that again removes files that a piece of work had removed. */
export function removePathsCommand(
  pair: readonly [from: string, to: string],
  paths: readonly RawPath[],
  isTop: boolean,
): string {
  if (canBeListed(paths)) return formatCommandLine(['git', 'rm', '--', ...paths.map(path => pathspec(path, isTop))])
  const names = `git diff --name-only --diff-filter=D -z ${pair.map(shortHash).join(' ')}`
  const top = '"$(git rev-parse --show-toplevel)"'
  return `${names} | git -C ${top} --literal-pathspecs rm --ignore-unmatch --pathspec-from-file=- --pathspec-file-nul`
}

/**
 * Returns the command that restores deleted files of a commit; all of them if a command line cannot list them. Edited
 * files stay as they are.
 */
export function restoreDeletedCommand(commit: string, paths: readonly RawPath[], isTop: boolean): string {
  if (canBeListed(paths)) return restorePathsCommand(commit, paths, isTop)
  const top = 'git -C "$(git rev-parse --show-toplevel)"'
  return `${top} diff --name-only --diff-filter=D -z ${shortHash(commit)} | ${top} --literal-pathspecs restore --source=${shortHash(commit)} --pathspec-from-file=- --pathspec-file-nul`
}

/** Returns the command that commits existing files; all uncommitted changes if a command line cannot list the files. */
export function commitPathsCommand(paths: readonly RawPath[], isTop: boolean): string {
  const which = canBeListed(paths) ? ['--', ...paths.map(path => pathspec(path, isTop))] : ['--all', ':/']
  return `${formatCommandLine(['git', 'add', ...which])} && git commit`
}

/** Shortens a hash to a length that is still unique. */
export function shortHash(id: string): string {
  return id.slice(0, 10)
}

/**
 * Returns a path in the form that git accepts on a command line. git reads `:/_` and similar prefixes as magic, so the
 * function uses the long form.
 */
function pathspec(path: RawPath, isTop: boolean): string {
  const text = rawPathBytes(path).toString()
  return isTop && !/[*?[\]\\]|^:/.test(text) ? text : `:(top,literal)${text}`
}
