import type { LaunchRequest, Objection } from '../../../ports/agent.ts'
import { argumentObjection, nameBeforeEquals, optionSet, remedies } from '../own-arguments.ts'

/** opencode ends at once, or does something else than was asked, when its own arguments fight with ours. */
export function objection(request: LaunchRequest): Objection | null {
  const remedyFor = (option: string): string | undefined => named(option, request) ?? REMEDIES.get(option)
  return argumentObjection(request.argv.slice(1), { ...RULES, remedyFor })
}

const RULES = {
  nameOf: nameBeforeEquals,
  one: optionSet(
    '--log-level --command -s --session -m --model --agent --format --title --attach -p --password',
    '-u --username --dir --port --variant',
  ),
  several: optionSet('-f --file'), // opencode 1.18.33: it takes every word up to the next option.
  others: 'none',
  problemWith: (option: string) => `opencode cannot be given ${option} here`,
  toWord,
} as const

function named(option: string, { model, effort }: LaunchRequest): string | undefined {
  if ((option === '-m' || option === '--model') && model !== null)
    return `leave it out; the session already names the model ${model}`
  if (option === '--variant' && effort !== null)
    return `leave it out; the session already asks for the effort ${effort}`
  return undefined
}

function toWord(word: string): Objection {
  return { problem: `opencode cannot be given ${word} besides its prompt`, remedy: 'make it part of the prompt' }
}

const REMEDIES = remedies(
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
