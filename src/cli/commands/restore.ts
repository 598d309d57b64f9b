import path from 'node:path'
import { refusal } from '../../api/contract/problems.ts'
import type { CheckpointView, RestoredView, SessionView } from '../../api/contract/session-view.ts'
import { quote } from '../../lib/quote.ts'
import { readCheckpoints } from '../../views/checkpoints.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { ask } from '../screen/ask.ts'
import { toJson } from '../screen/json.ts'
import { relative } from '../screen/when.ts'
import { pickSession } from '../session/pick-session.ts'
import { isCheckpointWord, whichCheckpoint } from '../session/which-checkpoint.ts'
import { here, type Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function restore(line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen } = surroundings
  const { out } = screen
  const isHere = line.has(OPTIONS.restoreHere)
  if (isHere && (line.has(OPTIONS.branch) || line.has(OPTIONS.worktree)))
    throw refusal('usage', '--here has neither a branch nor a worktree', 'leave one of them out')
  const { name, word } = read(line.words[0] ?? '')
  const session = pickSession(surroundings, name)
  const checkpoint = whichCheckpoint(await readCheckpoints(home, session), word, session)
  if (isHere && !(await mayReplace(line, surroundings, session, checkpoint))) return 1
  const branch = line.value(OPTIONS.branch)
  const worktree = line.value(OPTIONS.worktree)
  const restored = await (await ensureDaemon(home)).restore(session.id, {
    checkpoint: checkpoint.number,
    ...(isHere && { here: true }),
    ...(branch !== undefined && { branch }),
    ...(worktree !== undefined && { worktree: path.resolve(here(), worktree) }),
  })
  if (line.has(OPTIONS.json)) out.say(toJson(restored))
  else if (screen.isQuiet || !out.isTerminal) out.say(restored.worktree ?? restored.branch ?? session.cwd)
  else for (const text of tell(session, restored)) out.say(text)
  for (const text of restored.missing) screen.err.say(`not brought back: ${text}`)
  return 0
}

/** `NAME@7`, `NAME` or `7`. */
function read(text: string): { name: string | undefined; word: string } {
  const [, name, number] = /^(.+)@([^@]+)$/.exec(text) ?? []
  if (name !== undefined && number !== undefined) return { name, word: number }
  return isCheckpointWord(text) ? { name: undefined, word: text } : { name: text, word: 'last' }
}

async function mayReplace(
  line: Line,
  { screen }: Surroundings,
  session: SessionView,
  { number, at }: CheckpointView,
): Promise<boolean> {
  if (line.has(OPTIONS.yes)) return true
  const what = `the files in ${session.cwd} become what they were at checkpoint ${number}`
  if (!screen.mayAsk) throw refusal('needs-yes', what, 'add --yes; what is there now is saved first')
  return await ask(`${what}, ${relative(at, Date.now())}; what is there now is saved first. Go on?`)
}

function tell({ name }: SessionView, { checkpoint, branch, worktree, before }: RestoredView): string[] {
  const what = `checkpoint ${checkpoint.number} of ${name}`
  if (worktree !== null) return [`${what} is in ${worktree}, on branch ${branch}`]
  if (branch !== null) return [`${what} is on branch ${branch}`, `  look at it: git switch ${quote(branch)}`]
  const back = before === null ? [] : [`  what was there before: oneshot restore ${name}@${before.number} --here`]
  return [`${what} is in the working tree`, ...back]
}
