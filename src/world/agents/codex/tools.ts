import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import { type JsonObject, asObject, asObjects, asString } from '../shared/tolerant-json.ts'
import { summarizeInput } from '../shared/transcript-lines.ts'

export interface ToolUse {
  readonly id: string
  readonly tool: string
  readonly summary: string
  readonly output: string
  readonly hasFailed: boolean
  /** The files that the tool wrote. */
  readonly edits: readonly string[]
  /** True if the model's servers run the tool, so that the same answer continues after it. */
  readonly isWithinAnswer: boolean
}

/** Parses a tool call of any of codex's kinds. */
export function parseToolUse(item: JsonObject): ToolUse {
  const hasFailed = item['status'] === 'failed' || item['status'] === 'declined'
  const base = { id: asString(item['id']), hasFailed, output: '', edits: [], isWithinAnswer: false }
  switch (item['type']) {
    case 'command_execution':
      return {
        ...base,
        tool: 'shell',
        summary: toOneLine(unwrapShell(asString(item['command']))),
        output: commandOutput(item, hasFailed),
      }
    case 'file_change':
      return { ...base, tool: 'edit', ...fileChanges(item, hasFailed) }
    case 'mcp_tool_call':
      return { ...base, tool: `${asString(item['server'])}.${asString(item['tool'])}`, ...mcpCall(item) }
    case 'collab_tool_call':
      return { ...base, tool: asString(item['tool']), summary: toOneLine(asString(item['prompt'])) }
    default:
      return { ...base, tool: 'web_search', summary: toOneLine(asString(item['query'])), isWithinAnswer: true }
  }
}

/** In characters. Nobody types a longer command, and the transcript shows only its beginning. */
const MAX_COMMAND = 32_768

/**
 * Returns `ls -l` for `/bin/bash -lc 'ls -l'`: codex runs every command in a shell. It leaves complicated quotes
 * unchanged.
 */
function unwrapShell(command: string): string {
  if (command.length > MAX_COMMAND) return command
  const script = /^\S*\/?(?:bash|zsh|sh) -l?c (.+)$/s.exec(command)?.[1]
  if (script === undefined) return command
  const [, single] = /^'([^']*)'$/s.exec(script) ?? []
  const [, double] = /^"((?:[^"\\]|\\.)*)"$/s.exec(script) ?? []
  return single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? script
}

function commandOutput(item: JsonObject, hasFailed: boolean): string {
  const output = asString(item['aggregated_output'])
  return hasFailed && typeof item['exit_code'] === 'number'
    ? `${output.trimEnd()}\nexit status ${item['exit_code']}`.trim()
    : output
}

function fileChanges(item: JsonObject, hasFailed: boolean): Pick<ToolUse, 'summary' | 'edits'> {
  const paths = asObjects(item['changes']).map(change => asString(change['path']))
  return { summary: toOneLine(paths.join(' ')), edits: hasFailed ? [] : paths.filter(path => path !== '') }
}

function mcpCall(item: JsonObject): Pick<ToolUse, 'summary' | 'output'> {
  const result = asObjects(asObject(item['result'])['content']).map(part => asString(part['text']))
  const error = asString(asObject(item['error'])['message'])
  return { summary: toOneLine(summarizeInput(item['arguments'])), output: error === '' ? result.join('\n') : error }
}
