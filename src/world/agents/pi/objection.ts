import type { LaunchRequest, Objection } from '../../../ports/agent.ts'
import { argumentObjection, optionSet, remedies } from '../own-arguments.ts'

/** pi 0.73 has no `max`; it says so and goes on without. */
const EFFORTS = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Why pi cannot be started like this. */
export function objection({ argv, autonomy, effort }: LaunchRequest): Objection | null {
  if (autonomy === 'ask') {
    return {
      problem: 'pi cannot ask before it uses a tool',
      remedy: 'let it edit files but run no commands (autonomy edits), or let it do everything (autonomy full)',
    }
  }
  if (effort !== null && !EFFORTS.includes(effort)) {
    return { problem: `pi knows no effort “${effort}”`, remedy: `choose one of ${EFFORTS.join(', ')}` }
  }
  const forbidden = autonomy === 'edits' ? TAKEN_WHEN_RESTRICTED : TAKEN
  return argumentObjection(argv.slice(1), { ...RULES, remedyFor: option => forbidden.get(option) })
}

/** The options of pi 0.73 and 0.87; one that it does not know takes the word after it, but no file. */
const RULES = {
  nameOf: (arg: string) => arg,
  none: optionSet(
    '-p --print --verbose --offline -a --approve -na --no-approve -nt --no-tools -nbt --no-builtin-tools',
    '-ne --no-extensions -ns --no-skills -np --no-prompt-templates --no-themes -nc --no-context-files',
  ),
  one: optionSet(
    '--provider --model --models --api-key --system-prompt --append-system-prompt --thinking -t --tools -xt',
    '--exclude-tools -e --extension --skill --prompt-template --theme --use-theme --tui-mode -n --name',
  ),
  others: 'one',
  noWord: /^[-@]/,
  problemWith: (option: string) => `${option} cannot be given to pi here`,
  toWord,
} as const

/** pi puts words and files together with the prompt, every time it is started: also when it only is to go on. */
function toWord(word: string): Objection {
  return word.startsWith('@')
    ? { problem: `the file ${word} cannot be given to pi here`, remedy: 'name the file in the prompt' }
    : { problem: `“${word}” would become part of every message to pi`, remedy: 'put it into the prompt' }
}

const TAKEN = remedies(
  [
    '-c --continue -r --resume --session --session-id --fork',
    'leave it out: oneshot decides which conversation continues',
  ],
  ['--no-session', 'leave it out: a conversation that is not saved cannot be resumed'],
  ['--session-dir', 'set PI_CODING_AGENT_SESSION_DIR, or sessionDir in the settings of pi'],
  ['--mode', 'leave it out: its output is read as JSON'],
  ['-h --help -v --version --list-models --export', 'run pi itself for that'],
)
const TAKEN_WHEN_RESTRICTED = new Map([
  ...TAKEN,
  ...remedies(['-t --tools', 'with autonomy edits the tools are chosen here; use autonomy full']),
])
