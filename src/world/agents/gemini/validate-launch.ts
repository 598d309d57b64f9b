import type { LaunchRequest, LaunchProblem } from '../../../ports/agent.ts'
import { checkArguments, nameBeforeEquals, optionSet, type ArgumentRules } from '../shared/check-arguments.ts'

/** Returns the reason why gemini cannot start with this request, or null. */
export function validate({ argv, effort }: LaunchRequest): LaunchProblem | null {
  if (effort !== null) return { problem: 'gemini takes no effort', remedy: 'leave it out, or choose another model' }
  return checkArguments(argv.slice(1), ARGUMENT_RULES)
}

/** oneshot does not know which of gemini's options take values, so it leaves words to gemini. */
const ARGUMENT_RULES: ArgumentRules = {
  nameOf: arg => arg,
  others: 'none',
  remedyFor: arg => (RESERVED_OPTIONS.has(nameBeforeEquals(arg)) ? REMEDY : undefined),
  problemWith: arg => `${arg} cannot be given to gemini here`,
  toWord: () => null,
}

const REMEDY = 'leave it out: oneshot sets the prompt, the conversation, the output and the rights'

const RESERVED_OPTIONS = optionSet(
  '-p --prompt -i --prompt-interactive -y --yolo --approval-mode -r --resume --session-id --session-file -w --worktree',
  '-o --output-format --acp --experimental-acp --list-sessions --delete-session -l --list-extensions -v --version',
  '-h --help',
)
