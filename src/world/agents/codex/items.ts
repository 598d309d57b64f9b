import { NO_USAGE } from '../../../core/session/usage.ts'
import { toOneLine } from '../../../lib/text/terminal-text.ts'
import type { ParserState, Observation, ParsedLine } from '../../../ports/agent.ts'
import { type JsonObject, asObjects, asArray, asString } from '../shared/json.ts'
import { truncateResult } from '../shared/failed-turn.ts'
import { plannedTasks } from '../shared/todo-list.ts'
import { formatToolCall, formatNote, formatToolResult, formatText } from '../shared/transcript-lines.ts'
import { unknownEvent } from '../shared/tool-calls.ts'
import { type ToolUse, parseToolUse } from './tools.ts'

type ItemStage = 'item.started' | 'item.updated' | 'item.completed'

/** Reads an item of a turn: a message, reasoning, a tool call or a plan. */
export function readItem(stage: ItemStage, item: JsonObject, memory: ParserState): ParsedLine {
  const type = asString(item['type'])
  switch (type) {
    case 'agent_message':
      return stage === 'item.completed' ? readMessage(asString(item['text']), memory) : NO_RESULT
    case 'reasoning':
      return countAnswer([], null, memory)
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
      return readTool(stage, item, memory)
    default:
      return unknownEvent(`item/${type}`)
  }
}

const NO_RESULT: ParsedLine = { observations: [], text: null }

function readMessage(words: string, memory: ParserState): ParsedLine {
  const line = toOneLine(words)
  return countAnswer([], formatText(words), line === '' ? memory : { ...memory, said: truncateResult(line) })
}

/** Text before a tool call is an announcement: the answer follows the last tool call. */
function readTool(stage: ItemStage, item: JsonObject, memory: ParserState): ParsedLine {
  if (stage === 'item.updated') return NO_RESULT
  const tool = parseToolUse(item)
  const open = asArray(memory['open']).map(asString)
  if (stage === 'item.started') return toolStarted(tool, { ...memory, open: [...open, tool.id] })
  // codex reports some kinds of tools only when they end.
  const started = open.includes(tool.id) ? { ...NO_RESULT, memory } : toolStarted(tool, memory)
  return {
    observations: [...started.observations, ...toolEnded(tool)],
    text: `${started.text ?? ''}${formatToolResult(tool.output, tool.hasFailed) ?? ''}` || null,
    memory: { ...started.memory, answering: tool.isWithinAnswer, open: open.filter(id => id !== tool.id) },
  }
}

function toolStarted({ id, tool, gist }: ToolUse, memory: ParserState): ParsedLine {
  return countAnswer([{ type: 'tool-started', id, tool, gist }], formatToolCall(tool, gist), { ...memory, said: '' })
}

function toolEnded({ id, edits }: ToolUse): Observation[] {
  return [{ type: 'tool-ended', id }, ...edits.map((path): Observation => ({ type: 'edited', path }))]
}

/**
 * codex does not report where an answer of the model begins, so text after the end of a tool counts as a new one. The
 * count is wrong if an answer asked for several tools and codex ran them one after the other.
 */
function countAnswer(observations: Observation[], words: string | null, memory: ParserState): ParsedLine {
  if (memory['answering'] === true) return { observations, text: words, memory }
  const spent: Observation = { type: 'spent', scope: 'step', spending: { ...NO_USAGE, turns: 1 } }
  return { observations: [spent, ...observations], text: words, memory: { ...memory, answering: true } }
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
