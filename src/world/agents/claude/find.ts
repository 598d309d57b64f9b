import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../../lib/trouble.ts'
import type { ThreadPlace, ThreadRecord } from '../../../ports/agent.ts'
import { namesIn, writtenAt } from '../disk.ts'
import { configFolder, projectFolder } from './folder.ts'
import { promptsIn } from './prompts.ts'

/** Looks up a thread by the id we chose for it, or the one the program told. */
export function find(place: ThreadPlace): ThreadRecord | null {
  const threads = place.thread === null || place.thread === place.tag ? [place.tag] : [place.thread, place.tag]
  for (const thread of threads) {
    const found = recordOf(place, thread)
    if (found !== null) return { thread, messages: promptsIn(found.bytes), writtenAt: writtenAt(found.file) }
  }
  return null
}

/** A thread lies with its working directory's; one that was begun in a worktree of the program's own lies elsewhere. */
function recordOf({ env, cwd }: ThreadPlace, thread: string): Found | null {
  const name = `${thread}.jsonl`
  const usual = read(path.join(projectFolder(env, cwd), name))
  if (usual !== null) return usual
  const projects = path.join(configFolder(env), 'projects')
  for (const project of namesIn(projects)) {
    const elsewhere = read(path.join(projects, project, name))
    if (elsewhere !== null) return elsewhere
  }
  return null
}

interface Found {
  readonly file: string
  readonly bytes: Buffer
}

function read(file: string): Found | null {
  try {
    return { file, bytes: fs.readFileSync(file) }
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return null
    throw cause
  }
}
