import type { Kind } from './programs.ts'

/**
 * Returns the arguments of a run without oneshot: to its end, with a prompt on stdin, events on stdout and full
 * autonomy.
 */
export function bareArguments(kind: Kind, resume?: string): readonly string[] {
  const { first, again } = BARE_INVOCATIONS[kind]
  return resume === undefined ? first : again(resume)
}

/** Returns the thread id in a program's output. */
export function threadIn(kind: Kind, stdout: string): string | undefined {
  return BARE_INVOCATIONS[kind].thread.exec(stdout)?.[1]
}

interface BareInvocation {
  readonly first: readonly string[]
  readonly again: (thread: string) => readonly string[]
  readonly thread: RegExp
}

function claude(): BareInvocation {
  const first = ['-p', '--output-format', 'stream-json', '--verbose', '--dangerously-skip-permissions']
  return { first, again: thread => [...first, '--resume', thread], thread: /"session_id":"([^"]+)"/ }
}

function codex(): BareInvocation {
  const flags = ['exec', '--json', '--dangerously-bypass-approvals-and-sandbox', '--skip-git-repo-check']
  return {
    first: [...flags, '-'],
    again: thread => [...flags, 'resume', thread, '-'],
    thread: /"thread_id":"([^"]+)"/,
  }
}

function opencode(): BareInvocation {
  const first = ['run', '--format', 'json', '--auto']
  return { first, again: thread => [...first, '--session', thread], thread: /"sessionID":"([^"]+)"/ }
}

function pi(): BareInvocation {
  const first = ['-p', '--mode', 'json', '--model', 'mock/mock-model']
  return { first, again: thread => [...first, '--session', thread], thread: /"type":"session".*?"id":"([^"]+)"/ }
}

function gemini(): BareInvocation {
  const first = ['--output-format', 'stream-json', '--yolo', '--skip-trust']
  return { first, again: thread => [...first, '--resume', thread], thread: /"session_id":"([^"]+)"/ }
}

const BARE_INVOCATIONS: Readonly<Record<Kind, BareInvocation>> = {
  claude: claude(),
  'claude-old': claude(),
  codex: codex(),
  opencode: opencode(),
  pi: pi(),
  'pi-new': pi(),
  gemini: gemini(),
}
