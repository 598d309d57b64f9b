import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import type { Observation, ParsedLine } from '../../../ports/agent.ts'
import { type JsonObject, asObject, asObjects, asString } from '../shared/tolerant-json.ts'
import type { OpencodeState } from './parser-state.ts'
import { plannedTasks } from '../shared/todo-list.ts'
import { formatToolCall, summarizeInput, formatToolResult } from '../shared/transcript-lines.ts'

/** opencode reports a tool call once, when it has ended. */
export function readTool(part: JsonObject, before: OpencodeState): ParsedLine<OpencodeState> {
  const state = asObject(part['state'])
  const tool = asString(part['tool'])
  const id = asString(part['callID'])
  const summary = toOneLine(summarizeCall(state))
  const { output, hasFailed } = toolResult(tool, state)
  const edits = hasFailed ? [] : editedFiles(tool, state)
  return {
    observations: [
      { type: 'tool-started', id, tool, summary },
      { type: 'tool-ended', id },
      ...edits.map((path): Observation => ({ type: 'edited', path })),
      ...(tool === 'todowrite' && !hasFailed ? [plannedTasks(listTodos(state), 'content')] : []),
    ],
    text: `${formatToolCall(tool, summary)}${formatToolResult(output, hasFailed) ?? ''}`,
    memory: isDenied(state) ? { ...before, refused: toOneLine(`${tool} ${summary}`).slice(0, 200) } : before,
  }
}

/** opencode rewords a refusal of a subagent's call, and the turn continues after it. */
function isDenied(state: JsonObject): boolean {
  return state['status'] === 'error' && asString(state['error']).startsWith('The user rejected permission')
}

/** Summarises a patch by its files, a todo list by its entries, and any other call by its arguments. */
function summarizeCall(state: JsonObject): string {
  const paths = patchedFiles(state)
  if (paths.length > 0) return paths.join(' ')
  const todos = listTodos(state).map(todo => asString(todo['content']))
  return todos.length > 0 ? todos.join(', ') : summarizeInput(state['input'])
}

function listTodos(state: JsonObject): readonly JsonObject[] {
  return asObjects(asObject(state['input'])['todos'])
}

function toolResult(tool: string, state: JsonObject): { output: string; hasFailed: boolean } {
  if (state['status'] === 'error') return { output: asString(state['error']), hasFailed: true }
  const output = asString(state['output'])
  const { exit } = asObject(state['metadata'])
  if (typeof exit === 'number' && exit !== 0) {
    return { output: `${output.trimEnd()}\nexit status ${exit}`.trim(), hasFailed: true }
  }
  if (tool === 'invalid') return { output, hasFailed: true } // opencode calls a tool that does not exist `invalid`.
  return { output: SILENT_TOOLS.has(tool) ? '' : output.replace(WRAPPER_TAGS, ''), hasFailed: false }
}

const EDITING_TOOLS = new Set(['write', 'edit', 'multiedit', 'patch', 'apply_patch'])
/** The input of these tools already shows the result of a successful call. */
const SILENT_TOOLS = new Set([...EDITING_TOOLS, 'todowrite'])
/** opencode puts these tags around the answer of a subagent, and this text in place of an empty output. */
const WRAPPER_TAGS = /^\(no output\)$|^<\/?task(?:_result)?\b[^>\n]{0,200}>\n?/gm

function editedFiles(tool: string, state: JsonObject): string[] {
  if (!EDITING_TOOLS.has(tool)) return []
  const paths = patchedFiles(state)
  return paths.length > 0 ? paths : [asString(asObject(state['input'])['filePath'])].filter(path => path !== '')
}

/** Returns the files of an `apply_patch`. */
function patchedFiles(state: JsonObject): string[] {
  const files = asObjects(asObject(state['metadata'])['files']).map(file => asString(file['filePath']))
  return files.filter(path => path !== '')
}
