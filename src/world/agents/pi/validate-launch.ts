import type { LaunchRequest, LaunchProblem } from '../../../ports/agent.ts'
import { checkArguments, optionSet, remedyMap } from '../shared/check-arguments.ts'

/** pi 0.73 has no `max`; it prints a warning and continues without. */
const EFFORT_LEVELS = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Returns the reason why pi cannot start with this request, or null. */
export function validate({ argv, autonomy, effort }: LaunchRequest): LaunchProblem | null {
  if (autonomy === 'ask') {
    return {
      problem: 'pi cannot ask before it uses a tool',
      remedy: 'let it edit files but run no commands (autonomy edits), or let it do everything (autonomy full)',
    }
  }
  if (effort !== null && !EFFORT_LEVELS.includes(effort)) {
    return { problem: `pi knows no effort “${effort}”`, remedy: `choose one of ${EFFORT_LEVELS.join(', ')}` }
  }
  const forbidden = autonomy === 'edits' ? RESERVED_WHEN_RESTRICTED : RESERVED_OPTIONS
  return checkArguments(argv.slice(1), { ...ARGUMENT_RULES, remedyFor: option => forbidden.get(option) })
}

/** The options of pi 0.73 and 0.87; an unknown option takes the word after it, but no file. */
const ARGUMENT_RULES = {
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
  toWord: checkWord,
} as const

/** pi adds words and files to the prompt at every start, also when it only continues a turn. */
function checkWord(word: string): LaunchProblem {
  return word.startsWith('@')
    ? { problem: `the file ${word} cannot be given to pi here`, remedy: 'name the file in the prompt' }
    : { problem: `“${word}” would become part of every message to pi`, remedy: 'put it into the prompt' }
}

const RESERVED_OPTIONS = remedyMap(
  [
    '-c --continue -r --resume --session --session-id --fork',
    'leave it out: oneshot decides which conversation continues',
  ],
  ['--no-session', 'leave it out: a conversation that is not saved cannot be resumed'],
  ['--session-dir', 'set PI_CODING_AGENT_SESSION_DIR, or sessionDir in the settings of pi'],
  ['--mode', 'leave it out: its output is read as JSON'],
  ['-h --help -v --version --list-models --export', 'run pi itself for that'],
)
const RESERVED_WHEN_RESTRICTED = new Map([
  ...RESERVED_OPTIONS,
  ...remedyMap(['-t --tools', 'with autonomy edits the tools are chosen here; use autonomy full']),
])
