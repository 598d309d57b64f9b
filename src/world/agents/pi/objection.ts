import type { LaunchRequest } from '../../../ports/agent.ts'

type Objection = { problem: string; remedy: string }

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
  return argumentObjection(argv.slice(1), autonomy === 'edits')
}

/** Walks the arguments as pi does: an option it does not know takes the word after it, if there is one. */
function argumentObjection(args: readonly string[], isRestricted: boolean): Objection | null {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ''
    if (!arg.startsWith('-') || arg === '--') return wordObjection(arg)
    const remedy = TAKEN.get(arg) ?? (isRestricted ? TAKEN_WHEN_RESTRICTED.get(arg) : undefined)
    if (remedy !== undefined) return { problem: `${arg} cannot be given to pi here`, remedy }
    if (TAKE_A_WORD.has(arg) || (!ALONE.has(arg) && !/^[-@]/.test(args[i + 1] ?? '-'))) i++
  }
  return null
}

/** pi puts words and files together with the prompt, every time it is started: also when it only is to go on. */
function wordObjection(word: string): Objection {
  return word.startsWith('@')
    ? { problem: `the file ${word} cannot be given to pi here`, remedy: 'name the file in the prompt' }
    : { problem: `“${word}” would become part of every message to pi`, remedy: 'put it into the prompt' }
}

const THREAD = 'leave it out: which conversation is gone on with is decided here'
const NO_WORK = 'run pi itself for that'
const TAKEN = new Map([
  ...['-c', '--continue', '-r', '--resume', '--session', '--session-id', '--fork'].map(
    option => [option, THREAD] as const,
  ),
  ['--no-session', 'leave it out: a conversation that is not saved cannot be resumed'],
  ['--session-dir', 'set PI_CODING_AGENT_SESSION_DIR, or sessionDir in the settings of pi'],
  ['--mode', 'leave it out: its output is read as JSON'],
  ...['-h', '--help', '-v', '--version', '--list-models', '--export'].map(option => [option, NO_WORK] as const),
])
const TAKEN_WHEN_RESTRICTED = new Map(
  ['-t', '--tools'].map(option => [option, 'with autonomy edits the tools are chosen here; use autonomy full']),
)

/** The other options of pi 0.73 and 0.87: those that take the next word, whatever it is, and those that do not. */
const TAKE_A_WORD = new Set(
  [
    '--provider --model --models --api-key --system-prompt --append-system-prompt --thinking -t --tools -xt',
    '--exclude-tools -e --extension --skill --prompt-template --theme --use-theme --tui-mode -n --name',
  ].flatMap(options => options.split(' ')),
)
const ALONE = new Set(
  [
    '-p --print --verbose --offline -a --approve -na --no-approve -nt --no-tools -nbt --no-builtin-tools',
    '-ne --no-extensions -ns --no-skills -np --no-prompt-templates --no-themes -nc --no-context-files',
  ].flatMap(options => options.split(' ')),
)
