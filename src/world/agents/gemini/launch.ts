import type { Autonomy } from '../../../core/session/session.ts'
import type { LaunchPlan, LaunchRequest } from '../../../ports/agent.ts'

/** Without a terminal gemini asks nobody: it removes the tools that it may not use. */
const AUTONOMY_ARGUMENTS: Record<Autonomy, readonly string[]> = {
  // Without --skip-trust gemini refuses a folder that its user does not trust, and loads no settings and commands from
  // it.
  full: ['--yolo', '--skip-trust'],
  edits: ['--approval-mode', 'auto_edit'],
  ask: ['--approval-mode', 'default'],
}

export function planLaunch({ argv, autonomy, model, resume, tag }: LaunchRequest): LaunchPlan {
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
