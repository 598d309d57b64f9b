import fs from 'node:fs'
import path from 'node:path'
import { refusal } from '../api/contract/problems.ts'
import type { PreflightView, ListView } from '../api/contract/loop-view.ts'
import { matchesGlob } from '../lib/text/glob.ts'
import { didYouMean } from '../lib/text/did-you-mean.ts'
import { parentFolders } from '../lib/text/raw-path.ts'
import { Refusal } from '../lib/errors.ts'
import { Trouble, errorMessage } from '../lib/errors.ts'
import { projectChecks } from '../world/checks/detect-check.ts'
import type { Worktrees } from '../ports/worktrees.ts'
import { gitWorktrees } from '../world/git/worktrees/git-worktrees.ts'
import { findTaskSource } from '../world/task-list/find-source.ts'

export interface PreflightOptions {
  readonly cwd: string
  /** The requested file; null to search for one. */
  readonly list: string | null
  readonly env: Readonly<Record<string, string>>
  /** Path patterns that must match a file. */
  readonly patterns?: readonly string[]
  /** True if the search may choose the issues of beads. */
  readonly beads?: boolean
}

/** Reports what a loop would find, and changes nothing. Includes a refusal for a requested list that is unreadable. */
export async function preflight({
  cwd,
  list,
  env,
  patterns = [],
  beads = false,
}: PreflightOptions): Promise<PreflightView> {
  const worktrees = gitWorktrees({ env })
  const survey = await worktrees.inspect(cwd)
  const listed = patterns.length === 0 ? null : survey === null ? listFiles(cwd) : await worktrees.listFiles(cwd)
  const unmatched = listed === null ? [] : unmatchedOf(patterns, cwd, listed)
  return {
    repository: survey && { branch: survey.branch, hasCommit: survey.head !== null, isClean: survey.isClean },
    list: await readListAt({ cwd, list, env, beads }),
    check: projectChecks(env).detect(cwd),
    unmatched,
  }
}

type Listed = Awaited<ReturnType<Worktrees['listFiles']>>

/** Lists the files of a folder that has no repository yet. */
function listFiles(cwd: string): Listed {
  const files = fs.readdirSync(cwd, { recursive: true, encoding: 'utf8' })
  return { top: fs.realpathSync(cwd), files, ignored: [] }
}

/**
 * Returns patterns that match nothing yet: their files may appear later. Refuses a plain path that does not exist,
 * because it is misspelt, and a path that git ignores, because the guard cannot protect it.
 */
function unmatchedOf(patterns: readonly string[], cwd: string, { top, files, ignored }: Listed): string[] {
  const inner = path.relative(top, fs.realpathSync(cwd))
  const known = files.map(file => path.relative(inner, file))
  return patterns.filter(pattern => {
    const fromTop = path.join(inner, pattern)
    if (fromTop === '..' || fromTop.startsWith('../'))
      throw refusal('usage', `${pattern} is outside of the repository`, `name a path below ${top}`)
    if (files.some(file => matchesGlob(file, fromTop))) return false
    const isThere = fs.existsSync(path.join(cwd, pattern.replaceAll(LITERAL, '$1')))
    if (isThere || ignored.some(one => matchesGlob(one, fromTop) || (one.endsWith('/') && fromTop.startsWith(one))))
      throw refusal('usage', `git ignores ${pattern}: nobody would see that it changed`, 'name a file that git knows')
    if (/[*?[{]/.test(pattern.replaceAll(LITERAL, ''))) return true
    const folders = known.flatMap(file => parentFolders(file))
    const near = didYouMean(pattern, [...new Set([...known, ...folders])])
    const meant =
      near === undefined ? 'name a file, a folder, or a pattern such as "src/**/*.sql"' : `did you mean ${near}?`
    throw refusal('usage', `no such file: ${pattern}`, meant)
  })
}

/** A pattern character in brackets is literal. */
const LITERAL = /\[([*?[{])\]/g

/** Returns a refusal that names the searched places if there is no list. */
async function readListAt({ cwd, list, env, beads = false }: PreflightOptions): Promise<ListView | Refusal> {
  try {
    const taskSource = await findTaskSource({ cwd, env }, list, { beads })
    const { items, objections } = await taskSource.read(cwd, AbortSignal.timeout(TIMEOUT))
    const tasks = items.map(({ label, title, isDone }) => ({ id: label, title, isDone }))
    return { file: taskSource.file, tasks, objections }
  } catch (cause) {
    if (cause instanceof Refusal) return cause
    if (!(cause instanceof Trouble)) throw cause
    return new Refusal('no-tasks', errorMessage(cause), 'correct that, or name another list: oneshot ralph LIST')
  }
}

/** Milliseconds; a task tracker answers within seconds. */
const TIMEOUT = 60_000
