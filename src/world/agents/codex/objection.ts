import type { LaunchRequest } from '../../../ports/agent.ts'

interface Objection {
  readonly problem: string
  readonly remedy: string
}

/** codex ends at once, or does something else than was asked, when its own arguments fight with ours. */
export function objection(request: LaunchRequest): Objection | null {
  const { options, words } = sorted(request.argv.slice(1))
  for (const option of options) {
    const remedy = remedyFor(option, request)
    if (remedy !== undefined) return { problem: `codex cannot be given ${option} here`, remedy }
  }
  const [word] = words
  if (word === undefined) return null
  if (SUBCOMMANDS.has(word))
    return { problem: `codex cannot be started with its command ${word} here`, remedy: THREADS }
  return { problem: `codex cannot be given ${word} besides its prompt`, remedy: 'make it part of the prompt' }
}

const THREADS = 'leave it out; threads are begun and resumed for you'
const AUTONOMY = 'leave it out; what it may do is decided by the autonomy of the session'

const REMEDIES: Readonly<Record<string, string>> = {
  '--json': 'leave it out; it is always given',
  '--experimental-json': 'leave it out; --json is always given',
  '--skip-git-repo-check': 'leave it out; it is always given',
  '--full-auto': AUTONOMY,
  '-s': AUTONOMY,
  '--sandbox': AUTONOMY,
  '--yolo': AUTONOMY,
  '--dangerously-bypass-approvals-and-sandbox': AUTONOMY,
  '--approve-for-me': AUTONOMY,
  '--ephemeral': 'leave it out; without its record a broken-off thread cannot be resumed',
  '-C': 'leave it out; start the session in that folder',
  '--cd': 'leave it out; start the session in that folder',
  '--worktree': 'leave it out; it would begin another worktree with every attempt',
  '--last': THREADS,
  '--all': THREADS,
  '-h': 'leave it out; ask codex itself',
  '--help': 'leave it out; ask codex itself',
  '-V': 'leave it out; ask codex itself',
  '--version': 'leave it out; ask codex itself',
}

function remedyFor(option: string, { model }: LaunchRequest): string | undefined {
  const namesModel = option === '-m' || option === '--model'
  if (namesModel && model !== null) return `leave it out; the session already names the model ${model}`
  return REMEDIES[option]
}

const SUBCOMMANDS = new Set(['resume', 'fork', 'review', 'help'])

/** Options that are followed by a value. */
const VALUED = new Set(
  (
    '-c --config --enable --disable -i --image -m --model --local-provider -p --profile -s --sandbox -C --cd ' +
    '--add-dir --thread-source --cyber-access-program --output-schema --color -o --output-last-message'
  ).split(' '),
)

function sorted(args: readonly string[]): { options: string[]; words: string[] } {
  const options: string[] = []
  const words: string[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (!arg.startsWith('-') || arg === '-') {
      words.push(arg)
      continue
    }
    const option = nameOf(arg)
    options.push(option)
    if (!VALUED.has(option) || arg !== option) continue
    at++
    // codex 0.166.0: `-i FILE…` takes every word up to the next option.
    if (option === '-i' || option === '--image') while (isWord(args[at + 1])) at++
  }
  return { options, words }
}

function isWord(arg: string | undefined): boolean {
  return arg !== undefined && !arg.startsWith('-')
}

/** `--sandbox` of `--sandbox=read-only`, `-s` of `-sread-only`. */
function nameOf(arg: string): string {
  return arg.startsWith('--') ? (arg.split('=')[0] ?? arg) : arg.slice(0, 2)
}
