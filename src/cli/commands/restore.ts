import path from 'node:path'
import { refusal } from '../../api/contract/problems.ts'
import type { CheckpointView, RestoredView } from '../../api/contract/session-view.ts'
import { commandLine } from '../../lib/quote.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { readCheckpoints } from '../../views/checkpoints.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { assertStill, type Whose, whose } from '../restore/whose.ts'
import { ask } from '../screen/ask.ts'
import { toJson } from '../screen/json.ts'
import { relative } from '../screen/when.ts'
import { isCheckpointWord, whichCheckpoint } from '../session/which-checkpoint.ts'
import { here, type Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function restore(line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen } = surroundings
  const { out } = screen
  const isHere = line.has(OPTIONS.restoreHere)
  if (isHere && (line.has(OPTIONS.branch) || line.has(OPTIONS.worktree)))
    throw refusal('usage', '--here cannot be combined with --branch or --worktree', 'leave out one of them')
  const { name, word } = read(line.words[0] ?? '')
  const owner = await whose(name, line.value(OPTIONS.from), surroundings)
  const checkpoint = whichCheckpoint(await readCheckpoints(home, owner), word, owner)
  if (isHere) assertStill(owner.cwd, surroundings)
  if (isHere && !(await mayReplace(line, surroundings, owner, checkpoint))) {
    screen.err.say('nothing was changed')
    return 1
  }
  const restored = await bringBack(owner, checkpoint, line, surroundings)
  if (line.has(OPTIONS.json)) out.say(toJson(restored))
  else if (screen.isQuiet || !out.isTerminal) out.say(restored.worktree ?? restored.branch ?? owner.cwd)
  else for (const text of tell(owner, restored)) out.say(text)
  for (const text of restored.missing) screen.err.say(`not restored: ${oneLine(text)}`)
  return 0
}

/** `NAME@7`, `NAME` or `7`. */
function read(text: string): { name: string | undefined; word: string } {
  const [, name, number] = /^(.+)@([^@]+)$/.exec(text) ?? []
  if (name !== undefined && number !== undefined) return { name, word: number }
  return isCheckpointWord(text) ? { name: undefined, word: text } : { name: text, word: 'last' }
}

async function bringBack(
  { id, name, cwd, isKnown }: Whose,
  { number }: CheckpointView,
  line: Line,
  { home }: Surroundings,
): Promise<RestoredView> {
  const branch = line.value(OPTIONS.branch)
  const worktree = line.value(OPTIONS.worktree)
  const request = {
    checkpoint: number,
    ...(line.has(OPTIONS.restoreHere) && { here: true as const }),
    ...(branch !== undefined && { branch }),
    ...(worktree !== undefined && { worktree: path.resolve(here(), worktree) }),
  }
  const client = await ensureDaemon(home)
  if (isKnown) return client.restore(id, request)
  return client.restoreKept({ ...request, sessionId: id, name, cwd, umask: process.umask() })
}

async function mayReplace(
  line: Line,
  { screen }: Surroundings,
  { cwd }: Whose,
  { number, at }: CheckpointView,
): Promise<boolean> {
  if (line.has(OPTIONS.yes)) return true
  const what = `this would restore the files in ${cwd} to checkpoint ${number}`
  if (!screen.mayAsk) throw refusal('needs-yes', what, 'add --yes; oneshot saves the present files first')
  return await ask(`${what}, ${relative(at, Date.now())}. oneshot saves the present files first. Continue?`)
}

function tell({ name, cwd, isKnown }: Whose, restored: RestoredView): string[] {
  const { checkpoint, branch, worktree, before } = restored
  const { number } = checkpoint
  const what = `checkpoint ${number} of ${name}`
  if (worktree !== null) return [`${what} is in ${worktree}, on branch ${branch}`]
  if (branch !== null)
    return [`${what} is on branch ${branch}`, ...waysToLook(branch, isKnown ? `${name} ${number}` : null)]
  if (restored.files === 0) return [`nothing to do: the files in ${cwd} are those of ${what} already`]
  const past = isKnown ? name : `${name}-before`
  const back = before === null ? [] : [`  to undo this: oneshot restore ${past}@${before.number} --here`]
  return [`${what} is in ${cwd}`, ...back]
}

function waysToLook(branch: string, which: string | null): string[] {
  const diff = which === null ? commandLine(['git', 'diff', 'HEAD', branch]) : `oneshot diff ${which} now`
  return [
    `  compare it with the present files: ${diff}`,
    `  check it out in a folder of its own: ${commandLine(['git', 'worktree', 'add', 'DIR', branch])}`,
  ]
}
