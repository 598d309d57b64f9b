import type { LaunchRequest, LaunchProblem } from '../../../ports/agent.ts'
import { checkArguments, nameBeforeEquals, optionSet, remedyMap } from '../shared/check-arguments.ts'

/** Refuses arguments that conflict with ours: with them, opencode exits at once or does something else. */
export function validate(request: LaunchRequest): LaunchProblem | null {
  const remedyFor = (option: string): string | undefined => optionConflict(option, request) ?? REMEDIES.get(option)
  return checkArguments(request.argv.slice(1), { ...ARGUMENT_RULES, remedyFor })
}

const ARGUMENT_RULES = {
  nameOf: nameBeforeEquals,
  one: optionSet(
    '--log-level --command -s --session -m --model --agent --format --title --attach -p --password',
    '-u --username --dir --port --variant',
  ),
  several: optionSet('-f --file'), // opencode 1.18.33: `-f` takes every word up to the next option.
  others: 'none',
  problemWith: (option: string) => `opencode cannot be given ${option} here`,
  toWord: checkWord,
} as const

function optionConflict(option: string, { model, effort }: LaunchRequest): string | undefined {
  if ((option === '-m' || option === '--model') && model !== null)
    return `leave it out; the session already names the model ${model}`
  if (option === '--variant' && effort !== null)
    return `leave it out; the session already asks for the effort ${effort}`
  return undefined
}

function checkWord(word: string): LaunchProblem {
  return { problem: `opencode cannot be given ${word} besides its prompt`, remedy: 'make it part of the prompt' }
}

const REMEDIES = remedyMap(
  ['--format', 'leave it out; it is always json'],
  ['--title', 'leave it out; threads are found again by their title'],
  ['--auto --yolo --dangerously-skip-permissions', 'leave it out; the autonomy of the session decides what it may do'],
  ['-c --continue -s --session --fork', 'leave it out; oneshot begins and resumes threads'],
  ['--dir', 'leave it out; start the session in that folder'],
  ['--attach', 'leave it out; a server would continue the work after the session is stopped'],
  ['-i --interactive --mini', 'leave it out; the session has no terminal'],
  ['--command', 'leave it out, and say in the prompt what the command would'],
  ['-h --help -v --version', 'leave it out; ask opencode itself'],
)
