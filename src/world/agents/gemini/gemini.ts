import type { Agent, LaunchPlan, LaunchRequest } from '../../../ports/agent.ts'
import { findThread } from './find-thread.ts'
import { validate } from './validate-launch.ts'
import { readLine } from './parse-output.ts'
import type { Autonomy } from '../../../core/session/session-state.ts'
import { explainByStderr } from '../shared/turn-result.ts'
import { LOGIN_REMEDY } from './failure.ts'

/** Explains an exit of gemini before it had a turn to end. */
export const explainExit = explainByStderr([
  // gemini 0.61.0 can neither begin nor resume a thread that it began without any message; oneshot must abandon it.
  { sign: /Session ID .{0,200} already exists/, kind: 'thread-lost' },
  { sign: /Invalid session identifier|No previous sessions found/, kind: 'thread-lost' },
  {
    sign: /GEMINI_API_KEY environment variable|set an Auth method|login required/i,
    kind: 'login',
    remedy: LOGIN_REMEDY,
  },
  { sign: /^Unknown arguments?:|^Invalid values:/, kind: 'setup' },
  {
    sign: /not running in a trusted directory/,
    kind: 'untrusted',
    text: 'this folder is not trusted by gemini: its settings could start programs',
    remedy: 'start gemini in it once and trust the folder, or use --autonomy full',
  },
])

/** The Gemini CLI. oneshot chooses its thread ids. */
export const gemini: Agent = {
  kind: 'gemini',
  proof: 'end-event',
  defaultMode: 'headless',
  modes: ['headless'],
  // gemini 0.61 writes nothing while a tool runs.
  silence: 15 * 60_000,
  takesPrompt: true,
  program: 'gemini',
  validate,
  planLaunch,
  resumeCommand: (program, thread) => [program, '--resume', thread],
  readLine,
  findThread,
  explainExit,
}

/** Without a terminal gemini asks nobody: it removes the tools that it may not use. */
const AUTONOMY_ARGUMENTS: Record<Autonomy, readonly string[]> = {
  // Without --skip-trust gemini refuses a folder that its user does not trust, and loads no settings and commands from
  // it.
  full: ['--yolo', '--skip-trust'],
  edits: ['--approval-mode', 'auto_edit'],
  ask: ['--approval-mode', 'default'],
}

function planLaunch({ argv, autonomy, model, resume, tag }: LaunchRequest): LaunchPlan {
  const [program = 'gemini', ...own] = argv
  return {
    argv: [
      program,
      '--output-format',
      'stream-json',
      ...AUTONOMY_ARGUMENTS[autonomy],
      ...(model === null ? [] : ['-m', model]),
      ...(resume === null ? ['--session-id', tag] : ['--resume', resume]),
      ...own,
    ],
    // Without this variable gemini starts a second process with more memory, and oneshot would watch the wrong one.
    env: { GEMINI_CLI_NO_RELAUNCH: 'true' },
    stdin: 'text',
  }
}
