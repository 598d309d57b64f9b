import { invariant } from '../../lib/trouble.ts'
import type { Agent } from '../../ports/agent.ts'
import { claude } from './claude/claude.ts'
import { codex } from './codex/codex.ts'
import { command } from './command.ts'
import { demo } from './demo/demo.ts'
import { gemini } from './gemini/gemini.ts'
import { opencode } from './opencode/opencode.ts'
import { pi } from './pi/pi.ts'
import { ralph } from './ralph/ralph.ts'

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
    ralph('ralph', options.loopArgv),
    ralph('build', options.loopArgv),
  ]
  const byKind = new Map(agents.map(agent => [agent.kind, agent]))
  return kind => {
    const agent = byKind.get(kind)
    invariant(agent !== undefined, `a session of the unknown agent ${kind} was accepted`)
    return agent
  }
}
