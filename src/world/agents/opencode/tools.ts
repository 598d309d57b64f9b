import { toOneLine } from '../../../lib/text/terminal-text.ts'
import type { ParserState, Observation, ParsedLine } from '../../../ports/agent.ts'
import { type JsonObject, asObject, asObjects, asString } from '../shared/json.ts'
import { plannedTasks } from '../shared/todo-list.ts'
import { formatToolCall, summarizeInput, formatToolResult } from '../shared/transcript-lines.ts'

/** A tool is told of once, when it is over. */
export function readTool(part: JsonObject, memory: ParserState): ParsedLine {
  const state = asObject(part['state'])
  const tool = asString(part['tool'])
  const id = asString(part['callID'])
  const gist = toOneLine(summarizeCall(state))
  const { output, hasFailed } = toolResult(tool, state)
  const edits = hasFailed ? [] : editedFiles(tool, state)
  return {
    observations: [
      { type: 'tool-started', id, tool, gist },
      { type: 'tool-ended', id },
      ...edits.map((path): Observation => ({ type: 'edited', path })),
      ...(tool === 'todowrite' && !hasFailed ? [plannedTasks(listTodos(state), 'content')] : []),
    ],
    text: `${formatToolCall(tool, gist)}${formatToolResult(output, hasFailed) ?? ''}`,
    memory: isDenied(state) ? { ...memory, refused: toOneLine(`${tool} ${gist}`).slice(0, 200) } : memory,
  }
}

/** A subagent's refusal is passed on in other words, and the turn goes on after it. */
function isDenied(state: JsonObject): boolean {
  return state['status'] === 'error' && asString(state['error']).startsWith('The user rejected permission')
}

/** A patch is told apart by its files, a todo list by what stands in it; the rest by its arguments. */
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
  if (tool === 'invalid') return { output, hasFailed: true } // How a tool that does not exist is called.
  return { output: SILENT_TOOLS.has(tool) ? '' : output.replace(WRAPPER_TAGS, ''), hasFailed: false }
}

const EDITING_TOOLS = new Set(['write', 'edit', 'multiedit', 'patch', 'apply_patch'])
/** What these give back when all went well is known from how they were called. */
const SILENT_TOOLS = new Set([...EDITING_TOOLS, 'todowrite'])
/** Around the answer of a subagent, and in the place of no answer at all. */
const WRAPPER_TAGS = /^\(no output\)$|^<\/?task(?:_result)?\b[^>\n]{0,200}>\n?/gm

function editedFiles(tool: string, state: JsonObject): string[] {
  if (!EDITING_TOOLS.has(tool)) return []
  const paths = patchedFiles(state)
  return paths.length > 0 ? paths : [asString(asObject(state['input'])['filePath'])].filter(path => path !== '')
}

/** The files of an `apply_patch`. */
function patchedFiles(state: JsonObject): string[] {
  const files = asObjects(asObject(state['metadata'])['files']).map(file => asString(file['filePath']))
  return files.filter(path => path !== '')
}
