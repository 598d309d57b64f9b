/** An agent's program, with the facts that people need to install it. */
export interface AgentProgram {
  readonly kind: string
  readonly program: string
  /** The command that installs it. */
  readonly install: string
  /** The command or steps to log in. */
  readonly login: string
  /** The versions that we tried, oldest first. */
  readonly tried: readonly string[]
}

/** Newer releases of pi need Node 22 and have another package name. */
const PI =
  Number(process.versions.node.split('.')[0]) >= 22
    ? '@earendil-works/pi-coding-agent'
    : '@mariozechner/pi-coding-agent'

/** The agents that accept a prompt, in the order of the search on PATH. */
export const AGENT_PROGRAMS: readonly AgentProgram[] = [
  {
    kind: 'claude',
    program: 'claude',
    install: 'npm install -g @anthropic-ai/claude-code',
    login: 'claude auth login',
    tried: ['2.1.197', '2.1.325'],
  },
  {
    kind: 'codex',
    program: 'codex',
    install: 'npm install -g @openai/codex',
    login: 'codex login',
    tried: ['0.166.0'],
  },
  {
    kind: 'opencode',
    program: 'opencode',
    install: 'npm install -g opencode-ai',
    login: 'opencode auth login',
    tried: ['1.18.33'],
  },
  {
    kind: 'pi',
    program: 'pi',
    install: `npm install -g ${PI}`,
    login: 'pi, then /login',
    tried: ['0.73.1', '0.87.1'],
  },
  {
    kind: 'gemini',
    program: 'gemini',
    install: 'npm install -g @google/gemini-cli',
    login: 'set GEMINI_API_KEY, or gemini, then /auth',
    tried: ['0.61.0'],
  },
]

/** Every kind that `--agent` accepts. */
export const AGENT_KINDS: readonly string[] = [...AGENT_PROGRAMS.map(agent => agent.kind), 'demo', 'command']

/** oneshot's own programs that direct agents; `--agent` does not accept them. */
export const LOOP_KINDS: readonly string[] = ['ralph', 'build']
