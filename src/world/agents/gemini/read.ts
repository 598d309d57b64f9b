import { oneLine, readable } from '../../../lib/terminal-text.ts'
import type { Memory, Observation, Reading } from '../../../ports/agent.ts'
import { called, failed, gistOf, noted, returned, said } from '../telling.ts'
import { eventIn, fieldsOf, type GeminiEvent, wordOf } from './events.ts'
import { finished } from './finished.ts'

/** More of an answer than this is not needed to tell how a turn ended. */
const LONGEST_ANSWER = 2000

/** What a line of `gemini --output-format stream-json` means. */
export function read(line: string, memory: Memory): Reading {
  const event = eventIn(line)
  if (event === undefined) return { observations: [], text: said(line) }
  if (event.type === 'message' && event['role'] === 'assistant') return spoke(event, memory)
  const { unsaid, ...others } = memory
  const reading = READERS[event.type]?.(event, others) ?? unknown(event.type)
  if (typeof unsaid !== 'string') return reading
  const before = said(unsaid) ?? ''
  return { ...reading, text: `${before}${reading.text ?? ''}` || null, memory: reading.memory ?? others }
}

const READERS: Record<string, (event: GeminiEvent, memory: Memory) => Reading> = {
  init: ({ session_id: id }) => ({ observations: [{ type: 'threaded', thread: wordOf(id) }], text: null }),
  message: ({ role }) => (role === 'user' ? { observations: [], text: null } : unknown(`message/${wordOf(role)}`)),
  tool_use: toolUsed,
  tool_result: toolReturned,
  error: ({ message, severity }, memory) => {
    const text = oneLine(wordOf(message))
    if (severity === 'warning') return { observations: [], text: noted(text) }
    return { observations: [], text: failed(text), memory: { ...memory, error: text } }
  },
  result: finished,
}

/** Answers come in pieces of a few words. Whole lines are told at once, the rest when it is whole or over. */
function spoke({ content }: GeminiEvent, memory: Memory): Reading {
  const answer = `${wordOf(memory['answer'])}${wordOf(content)}`.slice(0, LONGEST_ANSWER)
  const unsaid = `${wordOf(memory['unsaid'])}${wordOf(content)}`
  const end = unsaid.lastIndexOf('\n') + 1
  return {
    observations: [],
    text: end === 0 ? null : readable(unsaid.slice(0, end), { colour: false }),
    memory: { ...answering(memory), answer, unsaid: unsaid.slice(end) },
  }
}

/** A file that is to be written is kept in mind: the end of the call tells whether it was, but not which. */
function toolUsed({ tool_name: name, tool_id: toolId, parameters }: GeminiEvent, memory: Memory): Reading {
  const id = wordOf(toolId)
  const tool = wordOf(name)
  const gist = gistOf(parameters)
  const path = tool === 'write_file' || tool === 'replace' ? wordOf(fieldsOf(parameters)['file_path']) : ''
  const { answer: _before, ...others } = answering(memory)
  return {
    observations: [{ type: 'tool-started', id, tool, gist: oneLine(gist).slice(0, 200) }],
    text: called(tool, gist),
    memory: { ...others, ...(path !== '' && { [`writing ${id}`]: path }) },
  }
}

function toolReturned({ tool_id: toolId, status, output, error }: GeminiEvent, memory: Memory): Reading {
  const id = wordOf(toolId)
  const { [`writing ${id}`]: path, isAnswering: _before, ...others } = memory
  const isError = status !== 'success'
  const observations: Observation[] = [{ type: 'tool-ended', id }]
  if (typeof path === 'string' && !isError) observations.push({ type: 'edited', path })
  const text = wordOf(output) || wordOf(fieldsOf(error)['message'])
  return { observations, text: returned(text, isError), memory: others }
}

/** Counts the answers of the model, which the program does not: one ends where a tool has returned. */
function answering(memory: Memory): Memory {
  if (memory['isAnswering'] === true) return memory
  const turns = typeof memory['turns'] === 'number' ? memory['turns'] : 0
  return { ...memory, isAnswering: true, turns: turns + 1 }
}

function unknown(what: string): Reading {
  return { observations: [{ type: 'unknown', what: oneLine(what).slice(0, 80) }], text: null }
}
