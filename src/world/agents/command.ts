import type { Agent } from '../../ports/agent.ts'

/** Any program. Its exit status is its answer, and it is not started twice: only its caller knows whether it may be. */
export const command: Agent = {
  kind: 'command',
  proof: 'exit-code',
  defaultMode: 'tty',
  modes: ['headless', 'tty'],
  silence: null,
  takesPrompt: false,
  program: [],
  plan: ({ argv }) => ({ argv, env: {}, stdin: 'none' }),
}
