import type { Observation } from '../../../ports/agent.ts'
import { endsOf } from '../../../lib/ends-of.ts'
import { wordsIn } from '../content.ts'
import { type Json, json, jsons, list, text } from '../json.ts'
import { called, gistOf, returned } from '../telling.ts'
import { type Mind, nothing, type Seen, words } from './mind.ts'
import { isCall, planIn, planningCall } from './planning.ts'

/** Tools that write the one file they are given. */
const WRITERS = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit'])

/** A call. Those of a subagent read as part of what the call that started it gives back, for that one is still open. */
export function callMade(block: Json, isMain: boolean, mind: Mind): Seen {
  const id = text(block['id'])
  const tool = text(block['name'])
  const input = json(block['input'])
  const gist = withoutFolder(gistOf(input), mind.cwd)
  const path = text(input['file_path']) || text(input['notebook_path'])
  const isWriting = WRITERS.has(tool) && path !== ''
  const writing = isWriting ? { ...mind, writing: [...mind.writing, `${id} ${path}`] } : mind
  if (!isMain) return words(returned(`${tool} ${gist}`), writing)
  const planning = planningCall(id, tool, input)
  const kept = planning === null ? writing : { ...writing, planning: [...writing.planning, planning] }
  return { observations: [{ type: 'tool-started', id, tool, gist }], text: called(tool, gist), mind: kept }
}

export function callAnswered(block: Json, event: Json, isMain: boolean, mind: Mind): Seen {
  const id = text(block['tool_use_id'])
  const isError = block['is_error'] === true
  const answer = readableAnswer(endsOf(wordsIn(block['content'])))
  const files = isError ? [] : [...filesOf(id, mind), ...filesIn(event['tool_use_result'])]
  const ended: Observation[] = isMain ? [{ type: 'tool-ended', id }] : []
  const plans = mind.planning.filter(call => isCall(call, id)).flatMap(call => planIn(call, event['tool_use_result']))
  return {
    observations: [...ended, ...files.map(path => ({ type: 'edited' as const, path })), ...plans],
    text: isMain || isError ? returned(answer, isError) : null,
    mind: answered(id, mind, isError && isHooked(id, event, answer)),
  }
}

/** A tool of the model's own servers answers within the same message. */
export function serverAnswered(block: Json, mind: Mind): Seen {
  const id = text(block['tool_use_id'])
  return id === '' ? nothing(mind) : { observations: [{ type: 'tool-ended', id }], text: null, mind }
}

function answered(id: string, mind: Mind, isHooked: boolean): Mind {
  const writing = mind.writing.filter(entry => !entry.startsWith(`${id} `))
  const planning = mind.planning.filter(call => !isCall(call, id))
  const hooked = isHooked ? [...mind.hooked, id] : mind.hooked
  const isSame = writing.length === mind.writing.length && planning.length === mind.planning.length && !isHooked
  return isSame ? mind : { ...mind, writing, planning, hooked }
}

function filesOf(id: string, { writing }: Mind): string[] {
  return writing.filter(entry => entry.startsWith(`${id} `)).map(entry => entry.slice(id.length + 1))
}

/** 2.1.325 tells which files a shell command changed. */
function filesIn(result: unknown): string[] {
  const changed = list(json(json(result)['bashEditDiff'])['changedFiles'])
  return changed.map(text).filter(path => path !== '')
}

/** Only 2.1.325 says in so many words who refused a call. */
function isHooked(id: string, event: Json, answer: string): boolean {
  const meta = jsons(event['tool_result_meta']).find(about => about['id'] === id)
  return json(meta?.['permission_decision'])['source'] === 'hook' || /^PreToolUse:\S+ hook /.test(answer)
}

/**
 * Without what is said to the model alone. Found by plain searches: an expression that begins again at each mark takes the
 * square of their number.
 */
export function readableAnswer(answer: string): string {
  if (answer.startsWith("The user doesn't want to proceed with this tool use")) return 'interrupted'
  const shown = withoutFileNote(withoutAgentNote(reportIn(errorIn(answer))))
  return /^\(\w{1,100} completed with no output\)$/.test(shown) ? '' : shown
}

function errorIn(answer: string): string {
  const [begin, end] = ['<tool_use_error>', '</tool_use_error>']
  return answer.startsWith(begin) && answer.endsWith(end) ? answer.slice(begin.length, -end.length) : answer
}

/** What follows the last hand-back of a subagent that has a report. */
function reportIn(answer: string): string {
  const begin = 'The report follows:\n  '
  const last = answer.lastIndexOf(begin)
  const from = last < 0 ? -1 : answer.lastIndexOf('[Subagent hand-back]', last)
  return from < 0 ? answer : answer.slice(answer.indexOf(begin, from) + begin.length)
}

function withoutAgentNote(answer: string): string {
  const at = /\nagentId: \S{1,200} \(use SendMessage/.exec(answer)?.index
  return at === undefined ? answer : answer.slice(0, at)
}

function withoutFileNote(answer: string): string {
  const at = answer.lastIndexOf(' (file state is current in your context')
  return at >= 0 && answer.indexOf(')', at) === answer.length - 1 ? answer.slice(0, at) : answer
}

function withoutFolder(gist: string, cwd: string): string {
  return cwd !== '' && gist.startsWith(`${cwd}/`) ? gist.slice(cwd.length + 1) : gist
}
