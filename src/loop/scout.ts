import fs from 'node:fs'
import path from 'node:path'
import { refusal } from '../api/contract/problems.ts'
import type { GroundView, ListView } from '../api/contract/loop-view.ts'
import { matchesGlob } from '../lib/glob.ts'
import { nearest } from '../lib/nearest.ts'
import { foldersOf } from '../lib/raw-path.ts'
import { Refusal } from '../lib/refusal.ts'
import { Trouble, wordsOf } from '../lib/trouble.ts'
import { projectChecks } from '../world/checks/checks.ts'
import { gitWorkshop } from '../world/git/workshop/git-workshop.ts'
import { sourceAt } from '../world/tasks/source-at.ts'

export interface Scouting {
  readonly cwd: string
  /** The file that is meant; null for whichever is found. */
  readonly list: string | null
  readonly env: Readonly<Record<string, string>>
  /** Patterns of paths that must match a file. */
  readonly patterns?: readonly string[]
  /** Whether the issues of beads may be the list that is found. */
  readonly beads?: boolean
}

/** Looks at what a loop would find, and changes nothing. A list that is asked for and cannot be read is refused. */
export async function scout({ cwd, list, env, patterns = [], beads = false }: Scouting): Promise<GroundView> {
  const workshop = gitWorkshop({ env })
  const survey = await workshop.survey(cwd)
  if (patterns.length > 0) assertMatched(patterns, cwd, survey === null ? filesBelow(cwd) : await workshop.listed(cwd))
  return {
    repository: survey && { branch: survey.branch, hasCommit: survey.head !== null, isClean: survey.isClean },
    list: await listAt({ cwd, list, env, beads }),
    check: projectChecks(env).detect(cwd),
  }
}

/** Where git will be set up later. */
function filesBelow(cwd: string): { top: string; files: readonly string[] } {
  const files = fs.readdirSync(cwd, { recursive: true, encoding: 'utf8' })
  return { top: fs.realpathSync(cwd), files }
}

/** A path that protects nothing, because it is misspelt or ignored by git, is refused. */
function assertMatched(
  patterns: readonly string[],
  cwd: string,
  { top, files }: { top: string; files: readonly string[] },
): void {
  const inner = path.relative(top, fs.realpathSync(cwd))
  const known = files.map(file => path.relative(inner, file))
  for (const pattern of patterns) {
    const fromTop = path.join(inner, pattern)
    if (fromTop === '..' || fromTop.startsWith('../'))
      throw refusal('usage', `${pattern} is outside of the repository`, `name a path below ${top}`)
    if (files.some(file => matchesGlob(file, fromTop))) continue
    const isThere = fs.existsSync(path.join(cwd, pattern.replaceAll(/\[([*?[{])\]/g, '$1')))
    const folders = known.flatMap(file => foldersOf(file))
    const near = nearest(pattern, [...new Set([...known, ...folders])])
    const why = isThere ? `git ignores ${pattern}: nobody would see that it changed` : `no such file: ${pattern}`
    const meant =
      near === undefined ? 'name a file, a folder, or a pattern such as "src/**/*.sql"' : `did you mean ${near}?`
    throw refusal('usage', why, isThere ? 'name a file that git knows' : meant)
  }
}

/** Refuses with what was looked for where there is none. */
async function listAt({ cwd, list, env, beads = false }: Scouting): Promise<ListView | Refusal> {
  try {
    const source = await sourceAt({ cwd, env }, list, { beads })
    const { items, objections } = await source.read(cwd, AbortSignal.timeout(PATIENCE))
    const tasks = items.map(({ label, title, isDone }) => ({ id: label, title, isDone }))
    return { file: source.file, tasks, objections }
  } catch (cause) {
    if (cause instanceof Refusal) return cause
    if (!(cause instanceof Trouble)) throw cause
    return new Refusal('no-tasks', wordsOf(cause), 'correct that, or name another list: oneshot ralph LIST')
  }
}

/** A task tracker answers within seconds. */
const PATIENCE = 60_000
