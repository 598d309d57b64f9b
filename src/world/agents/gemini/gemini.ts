import type { Autonomy } from '../../../core/session.ts'
import type { Agent, LaunchPlan, LaunchRequest } from '../../../ports/agent.ts'
import { explain } from './explain.ts'
import { find } from './find.ts'
import { read } from './read.ts'

/** The Gemini CLI. Its ids are of our choosing. */
export const gemini: Agent = {
  kind: 'gemini',
  proof: 'end-event',
  defaultMode: 'headless',
  modes: ['headless'],
  takesPrompt: true,
  program: 'gemini',
  manual: { install: 'npm install -g @google/gemini-cli', login: 'gemini', tried: ['0.61.0'] },
  objection,
  plan,
  read,
  find,
  explain,
}

/** Without a terminal it asks nobody: what it may not do is left out of its tools. */
const APPROVAL: Record<Autonomy, readonly string[]> = {
  full: ['--yolo'],
  edits: ['--approval-mode', 'auto_edit'],
  ask: ['--approval-mode', 'default'],
}

function plan({ argv, autonomy, model, resume, tag }: LaunchRequest): LaunchPlan {
  const [program = 'gemini', ...own] = argv
  return {
    argv: [
      program,
      '--output-format',
      'stream-json',
      ...APPROVAL[autonomy],
      '--skip-trust',
      ...(model === null ? [] : ['-m', model]),
      ...(resume === null ? ['--session-id', tag] : ['--resume', resume]),
      ...own,
    ],
    // It would start itself a second time to have more memory; then the one that works is not the one we watch.
    env: { GEMINI_CLI_NO_RELAUNCH: 'true' },
    stdin: 'text',
  }
}

function objection({ argv, effort }: LaunchRequest): { problem: string; remedy: string } | null {
  if (effort !== null) return { problem: 'gemini takes no effort', remedy: 'leave it out, or choose another model' }
  const taken = argv.slice(1).find(arg => TAKEN.has(arg.replace(/=.*$/s, '')))
  if (taken === undefined) return null
  return {
    problem: `${taken} cannot be given to gemini here`,
    remedy: 'leave it out: the prompt, the conversation, the output and what it may do are decided here',
  }
}

const TAKEN = new Set(
  [
    '-p --prompt -i --prompt-interactive -y --yolo --approval-mode -r --resume --session-id --session-file -w --worktree',
    '-o --output-format --acp --experimental-acp --list-sessions --delete-session -l --list-extensions -v --version',
    '-h --help',
  ].flatMap(options => options.split(' ')),
)
