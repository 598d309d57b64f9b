import { quoteShellWord } from '../../src/lib/text/shell-words.ts'
import type { Call, Conversation, Tool } from './conversation.ts'
import type { ToolAction, ToolCall } from './script.ts'

/** Returns the calls of the program's own tools that perform these actions. */
export function toolCallsFor(
  actions: readonly ToolAction[],
  tools: readonly Tool[],
  name: (n: number) => string,
): Call[] {
  return actions.map((action, n) => ({ id: name(n), ...toolCallFor(action, tools) }))
}

function toolCallFor(action: ToolAction, tools: readonly Tool[]): UnnamedCall {
  switch (action.kind) {
    case 'shell':
      return shellCall(action.command, tools)
    case 'write':
      return writeCall(action, tools)
    case 'call':
      return otherCall(action, tools)
  }
}

/**
 * Returns a call that asks for the result of a running command. codex 0.166 answers for a long command before it has
 * ended, and the model has to ask again. The ids of these calls are not steps of a script.
 */
export function callForRunningCommand({ items, tools }: Conversation): Call | undefined {
  const last = items.at(-1)
  if (last?.kind !== 'result' || !tools.some(({ name }) => name === 'write_stdin')) return undefined
  const session = /Process running with session ID (\d+)/.exec(last.text)?.[1]
  if (session === undefined) return undefined
  const asked = items.filter(item => item.kind === 'called' && item.id.startsWith('ask_')).length
  const input = { session_id: Number(session), chars: '', yield_time_ms: MAX_WAIT }
  return { id: `ask_${asked}`, name: 'write_stdin', type: 'function', input }
}

/** Milliseconds; codex reduces it to its own limit. */
const MAX_WAIT = 30_000
const SHELLS = ['Bash', 'bash', 'exec_command', 'shell_command', 'shell', 'local_shell', 'run_shell_command']
const WRITERS = ['Write', 'write', 'write_file']

type UnnamedCall = Omit<Call, 'id'>

function shellCall(command: string, tools: readonly Tool[]): UnnamedCall {
  const tool = findTool(SHELLS, tools)
  if (tool === undefined) throw new Error(`no shell tool among ${tools.map(({ name }) => name).join(', ')}`)
  const { name, type, properties } = tool
  const has = (property: string): boolean => property in properties
  const isList = type === 'local_shell' || properties['command']?.type === 'array'
  const input = {
    [has('cmd') ? 'cmd' : 'command']: isList ? ['bash', '-c', command] : command,
    ...(has('description') && { description: 'Run a command' }),
    ...(has('yield_time_ms') && { yield_time_ms: MAX_WAIT }),
  }
  return { name, type, input }
}

/** Returns a call that writes a file. codex 0.166 has no tool for it, so a command does it. */
function writeCall({ path, content }: { path: string; content: string }, tools: readonly Tool[]): UnnamedCall {
  const tool = findTool(WRITERS, tools)
  if (tool === undefined) return shellCall(`printf %s ${quoteShellWord(content)} > ${quoteShellWord(path)}`, tools)
  const place = ['file_path', 'filePath', 'path'].find(property => property in tool.properties) ?? 'path'
  return { name: tool.name, type: tool.type, input: { [place]: path, content } }
}

/**
 * Returns a call of another tool. claude 2.1.325 lists some tools only for models that search for them, but runs them
 * anyway.
 */
function otherCall({ tool: name, input }: ToolCall, tools: readonly Tool[]): UnnamedCall {
  return { name, type: findTool([name], tools)?.type ?? 'function', input }
}

function findTool(names: readonly string[], tools: readonly Tool[]): Tool | undefined {
  return names.flatMap(name => tools.find(tool => tool.name === name) ?? [])[0]
}
