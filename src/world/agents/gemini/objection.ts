import type { LaunchRequest, Objection } from '../../../ports/agent.ts'
import { argumentObjection, nameBeforeEquals, optionSet, type Rules } from '../own-arguments.ts'

/** Why gemini cannot be started like this. */
export function objection({ argv, effort }: LaunchRequest): Objection | null {
  if (effort !== null) return { problem: 'gemini takes no effort', remedy: 'leave it out, or choose another model' }
  return argumentObjection(argv.slice(1), RULES)
}

/** Which of its options take words is not known, so that words are left to it. */
const RULES: Rules = {
  nameOf: arg => arg,
  others: 'none',
  remedyFor: arg => (TAKEN.has(nameBeforeEquals(arg)) ? REMEDY : undefined),
  problemWith: arg => `${arg} cannot be given to gemini here`,
  toWord: () => null,
}

const REMEDY = 'leave it out: oneshot sets the prompt, the conversation, the output and the rights'

const TAKEN = optionSet(
  '-p --prompt -i --prompt-interactive -y --yolo --approval-mode -r --resume --session-id --session-file -w --worktree',
  '-o --output-format --acp --experimental-acp --list-sessions --delete-session -l --list-extensions -v --version',
  '-h --help',
)
