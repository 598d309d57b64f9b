/** An agent's program, with the facts that people need to install it. */
export interface AgentProgram {
  readonly kind: string
  readonly program: string
  /** The npm package that contains it. */
  readonly npmPackage: string
  /** The package's last releases for Node below 22, if they have another name. */
  readonly npmPackageBeforeNode22?: string
  /** The command or steps to log in. */
  readonly login: string
  /** The versions that we tried, oldest first. */
  readonly tried: readonly string[]
}

/** The agents that accept a prompt, in the order of the search on PATH. */
export const AGENT_PROGRAMS: readonly AgentProgram[] = [
  {
    kind: 'claude',
    program: 'claude',
    npmPackage: '@anthropic-ai/claude-code',
    login: 'claude auth login',
    tried: ['2.1.197', '2.1.325'],
  },
  {
    kind: 'codex',
    program: 'codex',
    npmPackage: '@openai/codex',
    login: 'codex login',
    tried: ['0.166.0'],
  },
  {
    kind: 'opencode',
    program: 'opencode',
    npmPackage: 'opencode-ai',
    login: 'opencode auth login',
    tried: ['1.18.33'],
  },
  {
    kind: 'pi',
    program: 'pi',
    npmPackage: '@earendil-works/pi-coding-agent',
    npmPackageBeforeNode22: '@mariozechner/pi-coding-agent',
    login: 'pi, then /login',
    tried: ['0.73.1', '0.87.1'],
  },
  {
    kind: 'gemini',
    program: 'gemini',
    npmPackage: '@google/gemini-cli',
    login: 'set GEMINI_API_KEY, or gemini, then /auth',
    tried: ['0.61.0'],
  },
]

/** Returns the command that installs an agent's program for this version of Node, such as `20.1.0`. */
export function installCommand({ npmPackage, npmPackageBeforeNode22 }: AgentProgram, nodeVersion: string): string {
  const isOld = Number(nodeVersion.split('.')[0]) < 22
  return `npm install -g ${isOld ? (npmPackageBeforeNode22 ?? npmPackage) : npmPackage}`
}

/** Every kind that `--agent` accepts. */
export const AGENT_KINDS: readonly string[] = [...AGENT_PROGRAMS.map(agent => agent.kind), 'demo', 'command']

/** oneshot's own programs that direct agents; `--agent` does not accept them. */
export const LOOP_KINDS: readonly string[] = ['ralph', 'build']
