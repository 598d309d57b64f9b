/** The agents a prompt can be given to, in the order they are looked for on PATH. */
export const AGENT_PROGRAMS: readonly { readonly kind: string; readonly program: string; readonly install: string }[] =
  [
    { kind: 'claude', program: 'claude', install: 'npm install -g @anthropic-ai/claude-code' },
    { kind: 'codex', program: 'codex', install: 'npm install -g @openai/codex' },
    { kind: 'opencode', program: 'opencode', install: 'npm install -g opencode-ai' },
    { kind: 'pi', program: 'pi', install: 'npm install -g @mariozechner/pi-coding-agent' },
    { kind: 'gemini', program: 'gemini', install: 'npm install -g @google/gemini-cli' },
  ]

/** Every kind `--agent` accepts. */
export const AGENT_KINDS: readonly string[] = [...AGENT_PROGRAMS.map(agent => agent.kind), 'demo', 'command']
