import type { LaunchRequest } from '../../../ports/agent.ts'
import { ALONE, TAKE_ONE_WORD } from './options.ts'
import { isDeclaredSandbox } from './sandbox.ts'

interface Objection {
  readonly problem: string
  readonly remedy: string
}

/** Why claude cannot be started like this. */
export function objection(request: LaunchRequest, user: { isRoot: boolean }): Objection | null {
  return argumentObjection(request.argv.slice(1)) ?? (user.isRoot ? rootObjection(request) : null)
}

/** The program's own rule, and not ours to get around: it ends at once, before it has said a word. */
function rootObjection({ autonomy, env }: LaunchRequest): Objection | null {
  if (autonomy !== 'full' || isDeclaredSandbox(env)) return null
  return {
    problem: 'claude refuses to work with full autonomy as root, unless it is told that it is in a sandbox',
    remedy:
      'if this machine is a sandbox or a container: --env IS_SANDBOX=1; else --autonomy edits, or run it as an ordinary user',
  }
}

function argumentObjection(args: readonly string[]): Objection | null {
  const { options, words } = sorted(args)
  for (const option of options) {
    const remedy = REMEDIES.get(option)
    if (remedy !== undefined) return { problem: `claude cannot be given ${option} here`, remedy }
  }
  const [word] = words
  if (word === undefined) return null
  return { problem: `“${word}” would become part of every message to claude`, remedy: 'put it into the prompt' }
}

const THREADS = 'leave it out; conversations are begun and resumed for you, and oneshot send goes on with one'
const GIVEN = 'leave it out; it is always given'
const ELSEWHERE = 'leave it out; the work is to be done here, under supervision'
const NO_WORK = 'run claude itself for that'

const REMEDIES = new Map<string, string>([
  ...all('-c --continue -r --resume --session-id --fork-session --from-pr --teleport', THREADS),
  ...all('-p --print --verbose', GIVEN),
  ['--output-format', 'leave it out; its output is read as stream-json'],
  ['--input-format', 'leave it out; its prompt is given as text'],
  ['--no-session-persistence', 'leave it out; a conversation that is not saved cannot be resumed'],
  ...all('-w --worktree --tmux', 'leave it out; it would begin another with every attempt'),
  ...all('--bg --background --cloud --desktop --remote-control', ELSEWHERE),
  ...all('-h --help -v --version', NO_WORK),
])

function all(options: string, remedy: string): [string, string][] {
  return options.split(' ').map(option => [option, remedy])
}

/** An option that is not known may take any number of words, as some do. */
function sorted(args: readonly string[]): { options: string[]; words: string[] } {
  const options: string[] = []
  const words: string[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') return { options, words: [...words, ...args.slice(at + 1)] }
    if (!arg.startsWith('-')) {
      words.push(arg)
      continue
    }
    const option = nameOf(arg)
    options.push(option)
    if (option !== arg || ALONE.has(option)) continue
    if (TAKE_ONE_WORD.has(option)) at++
    else while (isWord(args[at + 1])) at++
  }
  return { options, words }
}

function isWord(arg: string | undefined): boolean {
  return arg !== undefined && !arg.startsWith('-')
}

/** `--model` of `--model=opus`, `-n` of `-nfix`. */
function nameOf(arg: string): string {
  return arg.startsWith('--') ? (arg.split('=')[0] ?? arg) : arg.slice(0, 2)
}
