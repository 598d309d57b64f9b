/** An agent's program, for people who have to get it. */
export interface AgentProgram {
  readonly kind: string
  readonly program: string
  /** The command that installs it. */
  readonly install: string
  /** How to log in. */
  readonly login: string
  /** The versions we tried it with, oldest first. */
  readonly tried: readonly string[]
}

/** Its newer releases want Node 22, under a name of their own. */
const PI =
  Number(process.versions.node.split('.')[0]) >= 22
    ? '@earendil-works/pi-coding-agent'
    : '@mariozechner/pi-coding-agent'

/** The agents a prompt can be given to, in the order they are looked for on PATH. */
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

/** Every kind `--agent` accepts. */
export const AGENT_KINDS: readonly string[] = [...AGENT_PROGRAMS.map(agent => agent.kind), 'demo', 'command']

/** Our own programs that have others work: they are not asked for by `--agent`. */
export const LOOP_KINDS: readonly string[] = ['ralph', 'build']
