import type { LaunchRequest, Objection } from '../../../ports/agent.ts'
import { argumentObjection, joinedName, remedies, type Rules } from '../own-arguments.ts'
import { ALONE, TAKE_ONE_WORD } from './options.ts'
import { isDeclaredSandbox } from './sandbox.ts'

/** Why claude cannot be started like this. */
export function objection(request: LaunchRequest, user: { isRoot: boolean }): Objection | null {
  return argumentObjection(request.argv.slice(1), RULES) ?? (user.isRoot ? rootObjection(request) : null)
}

/** The program's own rule, and not ours to get around: it ends at once, before it has said a word. */
function rootObjection({ autonomy, env }: LaunchRequest): Objection | null {
  if (autonomy !== 'full' || isDeclaredSandbox(env)) return null
  return {
    problem: 'claude refuses to work with full autonomy as root, unless a variable says that it is in a sandbox',
    remedy:
      'if this machine is a sandbox or a container: --env IS_SANDBOX=1; else --autonomy edits, or run it as an ordinary user',
  }
}

const RULES: Rules = {
  nameOf: joinedName,
  none: ALONE,
  one: TAKE_ONE_WORD,
  others: 'several', // An option that is not known may take any number of words, as some do.
  remedyFor: option => REMEDIES.get(option),
  problemWith: option => `claude cannot be given ${option} here`,
  toWord,
}

function toWord(word: string): Objection | null {
  if (word === '--') return null // Ours stand before it.
  return { problem: `“${word}” would become part of every message to claude`, remedy: 'put it into the prompt' }
}

const REMEDIES = remedies(
  [
    '-c --continue -r --resume --session-id --fork-session --from-pr --teleport',
    'leave it out; oneshot begins and resumes conversations, and oneshot send continues one',
  ],
  ['-p --print --verbose', 'leave it out; it is always given'],
  ['--output-format', 'leave it out; its output is read as stream-json'],
  ['--input-format', 'leave it out; its prompt is given as text'],
  ['--no-session-persistence', 'leave it out; a conversation that is not saved cannot be resumed'],
  ['-w --worktree --tmux', 'leave it out; it would begin another with every attempt'],
  [
    '--bg --background --cloud --desktop --remote-control',
    'leave it out: oneshot supervises work on this machine only',
  ],
  ['-h --help -v --version', 'run claude itself for that'],
)
