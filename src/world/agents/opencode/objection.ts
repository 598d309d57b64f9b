import type { LaunchRequest } from '../../../ports/agent.ts'

interface Objection {
  readonly problem: string
  readonly remedy: string
}

/** opencode ends at once, or does something else than was asked, when its own arguments fight with ours. */
export function objection(request: LaunchRequest): Objection | null {
  const { options, words } = sorted(request.argv.slice(1))
  for (const option of options) {
    const remedy = remedyFor(option, request)
    if (remedy !== undefined) return { problem: `opencode cannot be given ${option} here`, remedy }
  }
  const [word] = words
  if (word === undefined) return null
  return { problem: `opencode cannot be given ${word} besides its prompt`, remedy: 'make it part of the prompt' }
}

const THREADS = 'leave it out; threads are begun and resumed for you'
const AUTONOMY = 'leave it out; what it may do is decided by the autonomy of the session'
const FOLDER = 'leave it out; start the session in that folder'
const SERVER = 'leave it out; a server would go on with the work after the session is stopped'
const TERMINAL = 'leave it out; the session has no terminal'

const REMEDIES: Readonly<Record<string, string>> = {
  '--format': 'leave it out; it is always json',
  '--title': 'leave it out; threads are found again by their title',
  '--auto': AUTONOMY,
  '--yolo': AUTONOMY,
  '--dangerously-skip-permissions': AUTONOMY,
  '-c': THREADS,
  '--continue': THREADS,
  '-s': THREADS,
  '--session': THREADS,
  '--fork': THREADS,
  '--dir': FOLDER,
  '--attach': SERVER,
  '-i': TERMINAL,
  '--interactive': TERMINAL,
  '--mini': TERMINAL,
  '--command': 'leave it out, and say in the prompt what the command would',
  '-h': 'leave it out; ask opencode itself',
  '--help': 'leave it out; ask opencode itself',
  '-v': 'leave it out; ask opencode itself',
  '--version': 'leave it out; ask opencode itself',
}

function remedyFor(option: string, { model, effort }: LaunchRequest): string | undefined {
  if ((option === '-m' || option === '--model') && model !== null) {
    return `leave it out; the session already names the model ${model}`
  }
  if (option === '--variant' && effort !== null)
    return `leave it out; the session already asks for the effort ${effort}`
  return REMEDIES[option]
}

/** Options that are followed by a value. */
const VALUED = new Set(
  (
    '--log-level --command -s --session -m --model --agent --format -f --file --title --attach -p --password ' +
    '-u --username --dir --port --variant'
  ).split(' '),
)

function sorted(args: readonly string[]): { options: string[]; words: string[] } {
  const options: string[] = []
  const words: string[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (!isOption(arg)) {
      words.push(arg)
      continue
    }
    const option = arg.split('=')[0] ?? arg
    options.push(option)
    if (!VALUED.has(option) || arg !== option) continue
    at++
    // opencode 1.18.33: `--file` takes every word up to the next option.
    if (option === '-f' || option === '--file') while (at + 1 < args.length && !isOption(args[at + 1] ?? '')) at++
  }
  return { options, words }
}

function isOption(arg: string): boolean {
  return arg.startsWith('-') && arg !== '-' && arg !== '--'
}
