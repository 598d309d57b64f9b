import { NOTHING_SPENT } from '../../../core/spending.ts'
import { oneLine, readable } from '../../../lib/terminal-text.ts'
import type { Memory, Observation, Reading } from '../../../ports/agent.ts'
import { callEnded, callStarted } from '../calls.ts'
import { eventInOutput, json, type JsonEvent, jsons, text } from '../json.ts'
import { planOf } from '../plan-of.ts'
import { failed, gistOf, noted, said } from '../telling.ts'
import { unknown } from '../unknown.ts'
import { finished } from './finished.ts'

/** More of an answer than this is not needed to tell how a turn ended. */
const LONGEST_ANSWER = 2000

/** What a line of `gemini --output-format stream-json` means. */
export function read(line: string, memory: Memory): Reading {
  const event = eventInOutput(line)
  if (event === null) return { observations: [], text: said(line) }
  if (event.type === 'message' && event['role'] === 'assistant') return spoke(event, memory)
  const { unsaid, ...others } = memory
  const reading = READERS.get(event.type)?.(event, others) ?? unknown(event.type)
  if (typeof unsaid !== 'string') return reading
  const before = said(unsaid) ?? ''
  return { ...reading, text: `${before}${reading.text ?? ''}` || null, memory: reading.memory ?? others }
}

const READERS = new Map<string, (event: JsonEvent, memory: Memory) => Reading>([
  ['init', ({ session_id: id }) => ({ observations: [{ type: 'threaded', thread: text(id) }], text: null })],
  ['message', ({ role }) => (role === 'user' ? { observations: [], text: null } : unknown(`message/${text(role)}`))],
  ['tool_use', toolUsed],
  ['tool_result', toolReturned],
  ['error', complained],
  ['result', finished],
])

function complained({ message, severity }: JsonEvent, memory: Memory): Reading {
  const sentence = oneLine(text(message))
  if (severity === 'warning') return { observations: [], text: noted(sentence) }
  return { observations: [], text: failed(sentence), memory: { ...memory, error: sentence } }
}

/** Answers come in pieces of a few words. Whole lines are told at once, the rest when it is whole or over. */
function spoke({ content }: JsonEvent, memory: Memory): Reading {
  const answer = `${text(memory['answer'])}${text(content)}`.slice(0, LONGEST_ANSWER)
  const unsaid = `${text(memory['unsaid'])}${text(content)}`
  const end = unsaid.lastIndexOf('\n') + 1
  return {
    observations: newAnswer(memory),
    text: end === 0 ? null : readable(unsaid.slice(0, end), { colour: false }),
    memory: { ...memory, isAnswering: true, answer, unsaid: unsaid.slice(end) },
  }
}

function toolUsed({ tool_name: name, tool_id: id, parameters }: JsonEvent, memory: Memory): Reading {
  const tool = text(name)
  const path = WRITING.has(tool) ? text(json(parameters)['file_path']) : ''
  const { answer: _before, ...others } = memory
  const started = callStarted({ id: text(id), tool, gist: gistOf(parameters), path }, { ...others, isAnswering: true })
  const observations = [...newAnswer(memory), ...started.observations]
  if (tool !== 'write_todos') return { ...started, observations }
  const plan = JSON.stringify(json(parameters)['todos'] ?? [])
  return { ...started, observations, memory: { ...started.memory, [planningBy(text(id))]: plan } }
}

function planningBy(id: string): string {
  return `planning ${id}`
}

const WRITING = new Set(['write_file', 'replace'])

function toolReturned({ tool_id: id, status, output, error }: JsonEvent, memory: Memory): Reading {
  const { isAnswering: _before, [planningBy(text(id))]: plan, ...others } = memory
  const told = text(output) || text(json(error)['message'])
  const isError = status !== 'success'
  const ended = callEnded(text(id), { output: told, isError }, others)
  if (typeof plan !== 'string' || isError) return ended
  return { ...ended, observations: [...ended.observations, planOf(jsons(JSON.parse(plan)), 'description')] }
}

/** Counts the answers of the model, which the program does not: one ends where a tool has returned. */
function newAnswer(memory: Memory): Observation[] {
  if (memory['isAnswering'] === true) return []
  return [{ type: 'spent', scope: 'step', spending: { ...NOTHING_SPENT, turns: 1 } }]
}
