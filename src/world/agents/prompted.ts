import type { Agent } from '../../ports/agent.ts'

/**
 * Agents that take a prompt on stdin and work without questions, started as their own documentation says. Their output
 * is shown as it is; their exit status counts as their answer.
 */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  claude: ['-p', '--dangerously-skip-permissions'],
  codex: ['exec', '--dangerously-bypass-approvals-and-sandbox', '--skip-git-repo-check'],
  opencode: ['run', '--auto'],
  pi: ['-p'],
  gemini: ['--yolo', '--skip-trust'],
}

export const prompted: readonly Agent[] = Object.entries(FLAGS).map(([kind, flags]) => ({
  kind,
  proof: 'exit-code',
  defaultMode: 'headless',
  takesPrompt: true,
  program: kind,
  plan: ({ argv: [program = kind, ...own] }) => ({
    argv: [program, ...flags, ...own, ...(kind === 'codex' ? ['-'] : [])],
    env: {},
    stdin: 'prompt',
  }),
}))
