import fs from 'node:fs'
import path from 'node:path'
import { readChecklist } from '../../core/loop/checklist.ts'
import { decodeLossless } from '../../lib/lossless-text.ts'
import { Refusal } from '../../lib/refusal.ts'
import { hasCode, wordsOf } from '../../lib/trouble.ts'
import type { TaskSource } from '../../ports/task-source.ts'
import type { Place } from '../../ports/tracker.ts'
import { findBeads } from '../beads/find-beads.ts'
import { which } from '../os/which.ts'
import { beadsSource } from './beads-source.ts'
import { fileSource } from './file-source.ts'
import { readYaml } from './yaml-tasks.ts'

/** Where a list is looked for, in this order. */
const NAMES = ['PRD', 'prd', 'TASKS', 'tasks', 'TODO', 'todo'] as const
const CANDIDATES = ['md', 'yaml', 'yml'].flatMap(end => NAMES.map(name => `${name}.${end}`))

/**
 * The list that a file is, or the one that is found in a folder: the first file that has tasks, then beads, then the first file
 * that could have some. Refuses, with what was looked for, where there is none.
 */
export async function sourceAt({ cwd, env }: Place, file: string | null): Promise<TaskSource> {
  if (file !== null) return fileSource(kindOf(file, contentOf(cwd, file)), path.relative(cwd, path.resolve(cwd, file)))
  const present = new Set(fs.readdirSync(cwd))
  const found = CANDIDATES.filter(name => present.has(name) && isFile(path.join(cwd, name))).map(name =>
    fileSource(kindOf(name, ''), name),
  )
  for (const source of found) if (await hasTasks(source, cwd)) return source
  if (findBeads(cwd) !== null && which('bd', env, cwd) !== undefined) return beadsSource(env)
  if (found[0] !== undefined) return found[0]
  throw nothingIn(cwd)
}

/** By its name, and for other names by what is in it. */
function kindOf(file: string, content: string): 'markdown' | 'yaml' {
  if (/\.(?:ya?ml|json)$/i.test(file)) return 'yaml'
  if (/\.(?:md|markdown|mdx|txt)$/i.test(file) || readChecklist(content).items.length > 0) return 'markdown'
  try {
    return readYaml(content).items.length > 0 ? 'yaml' : 'markdown'
  } catch {
    return 'markdown' // What is no YAML may be words; that it has no boxes is said when it is read.
  }
}

async function hasTasks(source: TaskSource, cwd: string): Promise<boolean> {
  try {
    return (await source.read(cwd, new AbortController().signal)).items.length > 0
  } catch {
    return true // It is meant to be a list, and something is wrong with it: whoever reads it is told.
  }
}

function contentOf(cwd: string, file: string): string {
  try {
    return decodeLossless(fs.readFileSync(path.resolve(cwd, file)))
  } catch (cause) {
    throw new Refusal(
      'no-tasks',
      `cannot read tasks from ${file}: ${whyNot(cause)}`,
      'name a Markdown or YAML file that is there',
    )
  }
}

function whyNot(cause: unknown): string {
  if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return 'there is no such file'
  if (hasCode(cause, 'EISDIR')) return 'it is a folder'
  return hasCode(cause, 'EACCES', 'EPERM') ? 'you may not read it' : wordsOf(cause)
}

function nothingIn(cwd: string): Refusal {
  const beads = findBeads(cwd) === null ? 'no .beads' : 'there is .beads, but no bd on the PATH'
  return new Refusal(
    'no-tasks',
    `there is no list of tasks in ${cwd}: no PRD, TASKS or TODO (.md, .yaml, .yml), and ${beads}`,
    'write PRD.md with a line “- [ ] what is to be done” for each task, or name another file',
  )
}

function isFile(file: string): boolean {
  return fs.statSync(file, { throwIfNoEntry: false })?.isFile() === true
}
