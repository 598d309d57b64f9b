import { invariant } from '../../lib/errors.ts'
import type { Agent } from '../../ports/agent.ts'
import { claude } from './claude/claude.ts'
import { codex } from './codex/codex.ts'
import { demo } from './demo/demo.ts'
import { gemini } from './gemini/gemini.ts'
import { opencode } from './opencode/opencode.ts'
import { pi } from './pi/pi.ts'
import { loopAgent } from './loop/loop-agent.ts'

/** Returns a lookup of every known agent by its kind. */
export function knownAgents(options: {
  demoArgv: readonly string[]
  demoThreads: string
  loopArgv: readonly string[]
  /** The path of drop-updates.cjs, which makes pi write less. */
  thin: string
}): (kind: string) => Agent {
  const agents = [
    command,
    demo(options.demoArgv, options.demoThreads),
    claude,
    codex,
    opencode,
    pi({ thin: options.thin }),
    gemini,
    loopAgent('ralph', options.loopArgv),
    loopAgent('build', options.loopArgv),
  ]
  const byKind = new Map(agents.map(agent => [agent.kind, agent]))
  return kind => {
    const agent = byKind.get(kind)
    invariant(agent !== undefined, `a session of the unknown agent ${kind} was accepted`)
    return agent
  }
}

/**
 * Runs any program. The exit status is its result. oneshot does not start it twice: only the caller knows if that is
 * safe.
 */
const command: Agent = {
  kind: 'command',
  proof: 'exit-code',
  defaultMode: 'tty',
  modes: ['headless', 'tty'],
  silence: null,
  takesPrompt: false,
  program: [],
  planLaunch: ({ argv }) => ({ argv, env: {}, stdin: 'none' }),
}
