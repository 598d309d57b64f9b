import { quote } from '../../lib/quote.ts'
import type { Call, Conversation, Tool } from './conversation.ts'
import type { Deed, ToolCall } from './script.ts'

/** The calls of the program's own tools that do this. */
export function callsFor(deeds: readonly Deed[], tools: readonly Tool[], name: (n: number) => string): Call[] {
  return deeds.map((deed, n) => ({ id: name(n), ...callFor(deed, tools) }))
}

function callFor(deed: Deed, tools: readonly Tool[]): Bare {
  switch (deed.kind) {
    case 'shell':
      return shell(deed.command, tools)
    case 'write':
      return write(deed, tools)
    case 'call':
      return other(deed, tools)
  }
}

/**
 * codex 0.166 answers for a command that takes long before it has ended, and the model has to ask again. The ids of
 * these calls are no steps of a script.
 */
export function stillRunning({ items, tools }: Conversation): Call | undefined {
  const last = items.at(-1)
  if (last?.kind !== 'result' || !tools.some(({ name }) => name === 'write_stdin')) return undefined
  const session = /Process running with session ID (\d+)/.exec(last.text)?.[1]
  if (session === undefined) return undefined
  const asked = items.filter(item => item.kind === 'called' && item.id.startsWith('ask_')).length
  const input = { session_id: Number(session), chars: '', yield_time_ms: LONGEST_WAIT }
  return { id: `ask_${asked}`, name: 'write_stdin', type: 'function', input }
}

/** Milliseconds; codex shortens it to what it allows. */
const LONGEST_WAIT = 30_000
const SHELLS = ['Bash', 'bash', 'exec_command', 'shell_command', 'shell', 'local_shell', 'run_shell_command']
const WRITERS = ['Write', 'write', 'write_file']

type Bare = Omit<Call, 'id'>

function shell(command: string, tools: readonly Tool[]): Bare {
  const tool = find(SHELLS, tools)
  if (tool === undefined) throw new Error(`no shell tool among ${tools.map(({ name }) => name).join(', ')}`)
  const { name, type, properties } = tool
  const has = (property: string): boolean => property in properties
  const isList = type === 'local_shell' || properties['command']?.type === 'array'
  const input = {
    [has('cmd') ? 'cmd' : 'command']: isList ? ['bash', '-c', command] : command,
    ...(has('description') && { description: 'Run a command' }),
    ...(has('yield_time_ms') && { yield_time_ms: LONGEST_WAIT }),
  }
  return { name, type, input }
}

/** codex 0.166 offers no tool for it: there a command does it. */
function write({ path, content }: { path: string; content: string }, tools: readonly Tool[]): Bare {
  const tool = find(WRITERS, tools)
  if (tool === undefined) return shell(`printf %s ${quote(content)} > ${quote(path)}`, tools)
  const place = ['file_path', 'filePath', 'path'].find(property => property in tool.properties) ?? 'path'
  return { name: tool.name, type: tool.type, input: { [place]: path, content } }
}

/** claude 2.1.325 offers some tools only to models that search for them, and runs them all the same. */
function other({ tool: name, input }: ToolCall, tools: readonly Tool[]): Bare {
  return { name, type: find([name], tools)?.type ?? 'function', input }
}

function find(names: readonly string[], tools: readonly Tool[]): Tool | undefined {
  return names.flatMap(name => tools.find(tool => tool.name === name) ?? [])[0]
}
