import { NO_USAGE } from '../../../core/session/usage.ts'
import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import type { Observation, ParsedLine } from '../../../ports/agent.ts'
import { type JsonObject, asObjects, asString } from '../shared/tolerant-json.ts'
import { truncateResult } from '../shared/turn-result.ts'
import { plannedTasks } from '../shared/todo-list.ts'
import { formatToolCall, formatNote, formatToolResult, formatText } from '../shared/transcript-lines.ts'
import { unknownEvent } from '../shared/tool-calls.ts'
import type { CodexState } from './parser-state.ts'
import { type ToolUse, parseToolUse } from './tools.ts'

type ItemStage = 'item.started' | 'item.updated' | 'item.completed'

/** Reads an item of a turn: a message, reasoning, a tool call or a plan. */
export function readItem(stage: ItemStage, item: JsonObject, state: CodexState): ParsedLine<CodexState> {
  const type = asString(item['type'])
  switch (type) {
    case 'agent_message':
      return stage === 'item.completed' ? readMessage(asString(item['text']), state) : NO_RESULT
    case 'reasoning':
      return countAnswer([], null, state)
    case 'error': // codex reports mere warnings like this, too: a turn that fails because of one reports that itself.
      return { observations: [], text: formatNote(asString(item['message'])) }
    case 'todo_list':
      return {
        observations: [planUpdate(item)],
        text: stage === 'item.completed' ? null : formatNote(describeProgress(item)),
      }
    case 'command_execution':
    case 'file_change':
    case 'mcp_tool_call':
    case 'collab_tool_call':
    case 'web_search':
      return readTool(stage, item, state)
    default:
      return unknownEvent(`item/${type}`)
  }
}

const NO_RESULT: ParsedLine<never> = { observations: [], text: null }

function readMessage(words: string, state: CodexState): ParsedLine<CodexState> {
  const line = toOneLine(words)
  return countAnswer([], formatText(words), line === '' ? state : { ...state, said: truncateResult(line) })
}

/** Text before a tool call is an announcement: the answer follows the last tool call. */
function readTool(stage: ItemStage, item: JsonObject, state: CodexState): ParsedLine<CodexState> {
  if (stage === 'item.updated') return NO_RESULT
  const tool = parseToolUse(item)
  const { open } = state
  if (stage === 'item.started') return toolStarted(tool, { ...state, open: [...open, tool.id] })
  // codex reports some kinds of tools only when they end.
  const started = open.includes(tool.id) ? { ...NO_RESULT, memory: state } : toolStarted(tool, state)
  return {
    observations: [...started.observations, ...toolEnded(tool)],
    text: `${started.text ?? ''}${formatToolResult(tool.output, tool.hasFailed) ?? ''}` || null,
    memory: { ...(started.memory ?? state), answering: tool.isWithinAnswer, open: open.filter(id => id !== tool.id) },
  }
}

function toolStarted({ id, tool, summary }: ToolUse, state: CodexState): ParsedLine<CodexState> {
  return countAnswer([{ type: 'tool-started', id, tool, summary }], formatToolCall(tool, summary), {
    ...state,
    said: '',
  })
}

function toolEnded({ id, edits }: ToolUse): Observation[] {
  return [{ type: 'tool-ended', id }, ...edits.map((path): Observation => ({ type: 'edited', path }))]
}

/**
 * codex does not report where an answer of the model begins, so text after the end of a tool counts as a new one. The
 * count is wrong if an answer asked for several tools and codex ran them one after the other.
 */
function countAnswer(observations: Observation[], words: string | null, state: CodexState): ParsedLine<CodexState> {
  if (state.answering) return { observations, text: words, memory: state }
  const spent: Observation = { type: 'spent', scope: 'step', spending: { ...NO_USAGE, turns: 1 } }
  return { observations: [spent, ...observations], text: words, memory: { ...state, answering: true } }
}

/** codex 0.166 does not report which step is in progress. */
function planUpdate(item: JsonObject): Observation {
  const steps = asObjects(item['items'])
  return plannedTasks(
    steps.map(step => ({ ...step, status: step['completed'] === true ? 'completed' : 'pending' })),
    'text',
  )
}

function describeProgress(item: JsonObject): string {
  const steps = asObjects(item['items'])
  const done = steps.filter(step => step['completed'] === true).length
  const next = steps.find(step => step['completed'] !== true)
  return `plan: ${done} of ${steps.length} done${next === undefined ? '' : `, next ${asString(next['text'])}`}`
}
