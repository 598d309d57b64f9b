import { oneLine } from '../../../lib/terminal-text.ts'
import { type Json, json, jsons, text } from '../json.ts'
import { gistOf } from '../telling.ts'

export interface Tool {
  readonly id: string
  readonly tool: string
  readonly gist: string
  readonly output: string
  readonly hasFailed: boolean
  /** The files it wrote. */
  readonly edits: readonly string[]
  /** Whether the model's servers run it, so that the same answer goes on after it. */
  readonly isWithinAnswer: boolean
}

/** A use of a tool, whichever of codex's kinds it is. */
export function toolIn(item: Json): Tool {
  const hasFailed = item['status'] === 'failed' || item['status'] === 'declined'
  const base = { id: text(item['id']), hasFailed, output: '', edits: [], isWithinAnswer: false }
  switch (item['type']) {
    case 'command_execution':
      return {
        ...base,
        tool: 'shell',
        gist: oneLine(commandIn(text(item['command']))),
        output: outputIn(item, hasFailed),
      }
    case 'file_change':
      return { ...base, tool: 'edit', ...changesIn(item, hasFailed) }
    case 'mcp_tool_call':
      return { ...base, tool: `${text(item['server'])}.${text(item['tool'])}`, ...mcpIn(item) }
    case 'collab_tool_call':
      return { ...base, tool: text(item['tool']), gist: oneLine(text(item['prompt'])) }
    default:
      return { ...base, tool: 'web_search', gist: oneLine(text(item['query'])), isWithinAnswer: true }
  }
}

/** Nobody types more, and a line tells only its beginning. */
const LONGEST_COMMAND = 32_768

/** `ls -l` of `/bin/bash -lc 'ls -l'`: every command comes in a shell. Quotes that take thinking are left. */
function commandIn(command: string): string {
  if (command.length > LONGEST_COMMAND) return command
  const script = /^\S*\/?(?:bash|zsh|sh) -l?c (.+)$/s.exec(command)?.[1]
  if (script === undefined) return command
  const [, single] = /^'([^']*)'$/s.exec(script) ?? []
  const [, double] = /^"((?:[^"\\]|\\.)*)"$/s.exec(script) ?? []
  return single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? script
}

function outputIn(item: Json, hasFailed: boolean): string {
  const output = text(item['aggregated_output'])
  return hasFailed && typeof item['exit_code'] === 'number'
    ? `${output.trimEnd()}\nexit status ${item['exit_code']}`.trim()
    : output
}

function changesIn(item: Json, hasFailed: boolean): Pick<Tool, 'gist' | 'edits'> {
  const paths = jsons(item['changes']).map(change => text(change['path']))
  return { gist: oneLine(paths.join(' ')), edits: hasFailed ? [] : paths.filter(path => path !== '') }
}

function mcpIn(item: Json): Pick<Tool, 'gist' | 'output'> {
  const result = jsons(json(item['result'])['content']).map(part => text(part['text']))
  const error = text(json(item['error'])['message'])
  return { gist: oneLine(gistOf(item['arguments'])), output: error === '' ? result.join('\n') : error }
}
