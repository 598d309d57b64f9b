import type { LaunchRequest, LaunchProblem } from '../../../ports/agent.ts'
import { checkArguments, optionName, optionSet, remedyMap } from '../shared/check-arguments.ts'

/** Refuses arguments that conflict with ours: with them, codex exits at once or does something else. */
export function validate(request: LaunchRequest): LaunchProblem | null {
  const remedyFor = (option: string): string | undefined => modelConflict(option, request) ?? REMEDIES.get(option)
  return checkArguments(request.argv.slice(1), { ...ARGUMENT_RULES, remedyFor })
}

const ARGUMENT_RULES = {
  nameOf: optionName,
  one: optionSet(
    '-c --config --enable --disable -m --model --local-provider -p --profile -s --sandbox -C --cd --add-dir',
    '--thread-source --cyber-access-program --output-schema --color -o --output-last-message',
  ),
  several: optionSet('-i --image'), // codex 0.166.0: `-i FILE…` takes every word up to the next option.
  others: 'none',
  problemWith: (option: string) => `codex cannot be given ${option} here`,
  toWord: checkWord,
} as const

function modelConflict(option: string, { model }: LaunchRequest): string | undefined {
  const namesModel = option === '-m' || option === '--model'
  return namesModel && model !== null ? `leave it out; the session already names the model ${model}` : undefined
}

function checkWord(word: string): LaunchProblem {
  return SUBCOMMANDS.has(word)
    ? { problem: `codex cannot be started with its command ${word} here`, remedy: THREAD_REMEDY }
    : { problem: `codex cannot be given ${word} besides its prompt`, remedy: 'make it part of the prompt' }
}

const SUBCOMMANDS = new Set(['resume', 'fork', 'review', 'help'])
const THREAD_REMEDY = 'leave it out; oneshot begins and resumes threads'

const REMEDIES = remedyMap(
  ['--json --skip-git-repo-check', 'leave it out; it is always given'],
  ['--experimental-json', 'leave it out; --json is always given'],
  [
    '--full-auto -s --sandbox --yolo --dangerously-bypass-approvals-and-sandbox --approve-for-me',
    'leave it out; the autonomy of the session decides what it may do',
  ],
  ['--ephemeral', 'leave it out; without its record an interrupted thread cannot be resumed'],
  ['-C --cd', 'leave it out; start the session in that folder'],
  ['--worktree', 'leave it out; it would begin another worktree with every attempt'],
  ['--last --all', THREAD_REMEDY],
  ['-h --help -V --version', 'leave it out; ask codex itself'],
)
