import { invariant } from '../../lib/errors.ts'
import type { Agent } from '../../ports/agent.ts'
import { claude } from './claude/claude.ts'
import { codex } from './codex/codex.ts'
import { demo } from './demo/demo.ts'
import { gemini } from './gemini/gemini.ts'
import { opencode } from './opencode/opencode.ts'
import { pi } from './pi/pi.ts'
import { loopAgent } from './loop/loop-agent.ts'

/** Every agent we know, by kind. */
export function knownAgents(options: {
  demoArgv: readonly string[]
  demoThreads: string
  loopArgv: readonly string[]
  /** The file that makes pi write less. */
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

/** Any program. Its exit status is its answer, and it is not started twice: only its caller knows whether it may be. */
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
