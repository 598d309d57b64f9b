import type { Observation } from '../../../ports/agent.ts'
import { headAndTail } from '../../../lib/text/head-and-tail.ts'
import { type JsonObject, asArray, asObject, asObjects, asString, joinTextBlocks } from '../shared/tolerant-json.ts'
import { formatToolCall, formatToolResult, summarizeInput } from '../shared/transcript-lines.ts'
import { type ClaudeState, type EventResult, type PlanningCall, noResult, textResult } from './parser-state.ts'
import type { AgentUpdate } from '../../../core/session/signals.ts'
import { plannedTasks, taskState } from '../shared/todo-list.ts'

/** Tools that write the one file that their input names. */
const WRITING_TOOLS = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit'])

/**
 * Reads a tool call. A subagent's call reads as part of the output of the call that started the subagent, because that
 * call is still open.
 */
export function readToolCall(block: JsonObject, isMain: boolean, state: ClaudeState): EventResult {
  const id = asString(block['id'])
  const tool = asString(block['name'])
  const input = asObject(block['input'])
  const summary = stripFolder(summarizeInput(input), state.cwd)
  const path = asString(input['file_path']) || asString(input['notebook_path'])
  const isWriting = WRITING_TOOLS.has(tool) && path !== ''
  const writing = isWriting ? { ...state, writing: [...state.writing, { call: id, path }] } : state
  if (!isMain) return textResult(formatToolResult(`${tool} ${summary}`), writing)
  const todoCall = rememberTodoCall(id, tool, input)
  const newState = todoCall === null ? writing : { ...writing, planning: [...writing.planning, todoCall] }
  return {
    observations: [{ type: 'tool-started', id, tool, summary }],
    text: formatToolCall(tool, summary),
    state: newState,
  }
}

export function readToolResult(block: JsonObject, event: JsonObject, isMain: boolean, state: ClaudeState): EventResult {
  const id = asString(block['tool_use_id'])
  const isError = block['is_error'] === true
  const answer = readableResult(headAndTail(joinTextBlocks(block['content'])))
  const files = isError ? [] : [...pendingWrites(id, state), ...changedFiles(event['tool_use_result'])]
  const ended: Observation[] = isMain ? [{ type: 'tool-ended', id }] : []
  const taskUpdates = state.planning
    .filter(({ call }) => call === id)
    .flatMap(({ subject }) => readTodoResult(subject, event['tool_use_result']))
  return {
    observations: [...ended, ...files.map(path => ({ type: 'edited' as const, path })), ...taskUpdates],
    text: isMain || isError ? formatToolResult(answer, isError) : null,
    state: closeCall(id, state, isError && isRefusedByHook(id, event, answer)),
  }
}

/** A tool on the model's own servers answers within the same message. */
export function readServerToolResult(block: JsonObject, state: ClaudeState): EventResult {
  const id = asString(block['tool_use_id'])
  return id === '' ? noResult(state) : { observations: [{ type: 'tool-ended', id }], text: null, state }
}

function closeCall(id: string, state: ClaudeState, isHooked: boolean): ClaudeState {
  const writing = state.writing.filter(({ call }) => call !== id)
  const planning = state.planning.filter(({ call }) => call !== id)
  const hooked = isHooked ? [...state.hooked, id] : state.hooked
  const isSame = writing.length === state.writing.length && planning.length === state.planning.length && !isHooked
  return isSame ? state : { ...state, writing, planning, hooked }
}

function pendingWrites(id: string, { writing }: ClaudeState): string[] {
  return writing.filter(({ call }) => call === id).map(({ path }) => path)
}

/** Claude Code 2.1.325 reports which files a shell command changed. */
function changedFiles(result: unknown): string[] {
  const changed = asArray(asObject(asObject(result)['bashEditDiff'])['changedFiles'])
  return changed.map(asString).filter(path => path !== '')
}

/** Only Claude Code 2.1.325 states who refused a call. */
function isRefusedByHook(id: string, event: JsonObject, answer: string): boolean {
  const meta = asObjects(event['tool_result_meta']).find(about => about['id'] === id)
  return asObject(meta?.['permission_decision'])['source'] === 'hook' || /^PreToolUse:\S+ hook /.test(answer)
}

/**
 * Strips the parts that address the model alone. It uses plain searches: the time of a regular expression that starts
 * again at each mark grows with the square of their number.
 */
export function readableResult(answer: string): string {
  if (answer.startsWith("The user doesn't want to proceed with this tool use")) return 'interrupted'
  const shown = stripFileNote(stripAgentNote(subagentReport(unwrapError(answer))))
  return /^\(\w{1,100} completed with no output\)$/.test(shown) ? '' : shown
}

function unwrapError(answer: string): string {
  const [begin, end] = ['<tool_use_error>', '</tool_use_error>']
  return answer.startsWith(begin) && answer.endsWith(end) ? answer.slice(begin.length, -end.length) : answer
}

/** Returns the text after the last hand-back of a subagent that has a report. */
function subagentReport(answer: string): string {
  const begin = 'The report follows:\n  '
  const last = answer.lastIndexOf(begin)
  const from = last < 0 ? -1 : answer.lastIndexOf('[Subagent hand-back]', last)
  return from < 0 ? answer : answer.slice(answer.indexOf(begin, from) + begin.length)
}

function stripAgentNote(answer: string): string {
  const at = /\nagentId: \S{1,200} \(use SendMessage/.exec(answer)?.index
  return at === undefined ? answer : answer.slice(0, at)
}

function stripFileNote(answer: string): string {
  const at = answer.lastIndexOf(' (file state is current in your context')
  return at >= 0 && answer.indexOf(')', at) === answer.length - 1 ? answer.slice(0, at) : answer
}

function stripFolder(summary: string, cwd: string): string {
  return cwd !== '' && summary.startsWith(`${cwd}/`) ? summary.slice(cwd.length + 1) : summary
}

/**
 * The tools that maintain a plan: TodoWrite, which reports the whole plan, or instead (2.1, unless
 * CLAUDE_CODE_ENABLE_TASKS=0) tasks with numbers of their own, which outlive a resume. Claude Code 2.1.325 offers
 * neither to its newest models, unless CLAUDE_CODE_ENABLE_TODO_TOOLS=1.
 */
const TODO_TOOLS = new Set(['TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskGet', 'TaskList'])

/** Returns the part of a call to remember until its result arrives, or null when the call does not concern a plan. */
function rememberTodoCall(id: string, tool: string, input: JsonObject): PlanningCall | null {
  return TODO_TOOLS.has(tool) ? { call: id, subject: asString(input['subject']) } : null
}

/** Returns the changes to the plan that the result of such a call reports. */
function readTodoResult(subject: string, result: unknown): Observation[] {
  const { newTodos, tasks, task, taskId, success, statusChange } = asObject(result)
  if (Array.isArray(newTodos)) return [plannedTasks(asObjects(newTodos), 'content')]
  if (Array.isArray(tasks)) return [{ type: 'planned', tasks: asObjects(tasks).flatMap(listedTask) }]
  const { subject: title, status = 'pending' } = asObject(task)
  if (asString(asObject(task)['id']) !== '') return taskUpdate(asObject(task), title, status)
  if (success !== true) return []
  return taskUpdate({ id: taskId }, subject, asObject(statusChange)['to'])
}

function taskUpdate({ id }: JsonObject, subject: unknown, status: unknown): Observation[] {
  if (asString(id) === '') return []
  const state = status === undefined ? null : (taskState(status) ?? 'dropped')
  return [{ type: 'replanned', tasks: [{ id: asString(id), title: asString(subject) || null, state }] }]
}

function listedTask(task: JsonObject): Extract<AgentUpdate, { type: 'planned' }>['tasks'] {
  const state = taskState(task['status'])
  const id = asString(task['id'])
  return id === '' || state === null ? [] : [{ id, title: asString(task['subject']), state }]
}
