import fs from 'node:fs'
import path from 'node:path'
import { readChecklist } from '../../core/loop/list/checklist.ts'
import { decodeLossless } from '../../lib/text/lossless-utf8.ts'
import { Refusal } from '../../lib/errors.ts'
import { hasCode, errorMessage } from '../../lib/errors.ts'
import type { TaskSource } from '../../ports/task-source.ts'
import type { TrackerContext } from '../../ports/tracker.ts'
import { findBeads } from '../tracker/beads-tracker.ts'
import { which } from '../../os/which.ts'
import { beadsTaskSource } from './beads-source.ts'
import { fileTaskSource, readListContent } from './file-source.ts'
import { readYaml } from './yaml-tasks.ts'

/** The file names to search for, in this order. */
const LIST_NAMES = ['PRD', 'prd', 'TASKS', 'tasks', 'TODO', 'todo'] as const
const CANDIDATES = ['md', 'yaml', 'yml'].flatMap(end => LIST_NAMES.map(name => `${name}.${end}`))

/**
 * Returns the source of a named list, or searches a folder: the first file with tasks, then beads, then the first file
 * without tasks. If there is none, it refuses and names the searched files. bd runs hooks of the project, so the search
 * uses beads only if the user has allowed it or names `beads` instead of a file.
 */
export async function findTaskSource(
  { cwd, env }: TrackerContext,
  file: string | null,
  { beads = false }: { beads?: boolean } = {},
): Promise<TaskSource> {
  const hasBeads = (): boolean => findBeads(cwd) !== null && which('bd', env, cwd) !== undefined
  if (file === 'beads' && !fs.existsSync(path.join(cwd, file)) && hasBeads()) return beadsTaskSource(env)
  if (file !== null)
    return fileTaskSource(detectKind(file, readContent(cwd, file)), path.relative(cwd, path.resolve(cwd, file)))
  const present = new Set(fs.readdirSync(cwd))
  const found = CANDIDATES.filter(name => present.has(name) && isFile(path.join(cwd, name))).map(name =>
    fileTaskSource(detectKind(name, ''), name),
  )
  for (const taskSource of found) if (await hasTasks(taskSource, cwd)) return taskSource
  if (beads && hasBeads()) return beadsTaskSource(env)
  if (found[0] !== undefined) return found[0]
  throw noListRefusal(cwd, beads)
}

/** Detects the format by the file name, and for other names by the content. */
function detectKind(file: string, content: string): 'markdown' | 'yaml' {
  if (/\.(?:ya?ml|json)$/i.test(file)) return 'yaml'
  if (/\.(?:md|markdown|mdx|txt)$/i.test(file) || readChecklist(content).items.length > 0) return 'markdown'
  try {
    return readYaml(content).items.length > 0 ? 'yaml' : 'markdown'
  } catch {
    return 'markdown' // Other content may be plain text; the reader reports that it has no boxes.
  }
}

async function hasTasks(taskSource: TaskSource, cwd: string): Promise<boolean> {
  try {
    return (await taskSource.read(cwd, new AbortController().signal)).items.length > 0
  } catch {
    return true // The file is probably a list with an error: the reader reports it.
  }
}

function readContent(cwd: string, file: string): string {
  try {
    return decodeLossless(readListContent(cwd, file))
  } catch (cause) {
    throw new Refusal(
      'no-tasks',
      `cannot read tasks from ${file}: ${describeReadError(cause)}`,
      'name an existing Markdown or YAML file',
    )
  }
}

function describeReadError(cause: unknown): string {
  if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return 'there is no such file'
  if (hasCode(cause, 'EISDIR')) return 'it is a folder'
  return hasCode(cause, 'EACCES', 'EPERM') ? 'you may not read it' : errorMessage(cause)
}

function noListRefusal(cwd: string, mayUseBeads: boolean): Refusal {
  const none = `there is no list of tasks in ${cwd}: no PRD, TASKS or TODO (.md, .yaml, .yml), and`
  const hasBeads = findBeads(cwd) !== null
  if (hasBeads && !mayUseBeads)
    return new Refusal(
      'no-tasks',
      `${none} bd is not run for .beads unless you say so`,
      'oneshot ralph beads, or beads = true in your own config; bd runs hooks of the project',
    )
  return new Refusal(
    'no-tasks',
    `${none} ${hasBeads ? 'there is .beads, but no bd on the PATH' : 'no .beads'}`,
    'write PRD.md with a line “- [ ] what is to be done” for each task, or name another file',
  )
}

function isFile(file: string): boolean {
  return fs.statSync(file, { throwIfNoEntry: false })?.isFile() === true
}
