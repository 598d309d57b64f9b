import type { Autonomy } from '../../../core/session.ts'
import type { LaunchPlan, LaunchRequest } from '../../../ports/agent.ts'
import { native } from './native.ts'

const FREEDOM: Readonly<Record<Autonomy, readonly string[]>> = {
  full: ['--dangerously-bypass-approvals-and-sandbox'],
  edits: ['-s', 'workspace-write'],
  // `exec` never asks: what it would have to ask for is refused by the sandbox.
  ask: ['-s', 'read-only'],
}

export function plan(request: LaunchRequest): LaunchPlan {
  const [program = 'codex', ...own] = request.argv
  const { program: binary, env } = native(program)
  return {
    // The caller's own words come first: `-i FILE…` would swallow whatever follows it, were it not an option of ours.
    argv: [binary, 'exec', ...own, '--json', ...FREEDOM[request.autonomy], '--skip-git-repo-check', ...wishes(request)],
    env,
    stdin: 'text',
  }
}

/** codex 0.166.0: `resume` takes no sandbox of its own, so it follows the options. */
function wishes({ model, effort, resume }: LaunchRequest): string[] {
  return [
    ...(model === null ? [] : ['-m', model]),
    ...(effort === null ? [] : ['-c', `model_reasoning_effort=${JSON.stringify(effort)}`]),
    ...(resume === null ? [] : ['resume', resume]),
    '-',
  ]
}
