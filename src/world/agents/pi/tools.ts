import type { Memory, Reading } from '../../../ports/agent.ts'
import { callEnded, callStarted } from '../calls.ts'
import { wordsIn } from '../content.ts'
import { json, type JsonEvent, text } from '../json.ts'
import { gistOf } from '../telling.ts'

const WRITING = new Set(['edit', 'write'])

export function toolStarted({ toolCallId: id, toolName, args }: JsonEvent, memory: Memory): Reading {
  const tool = text(toolName)
  const path = WRITING.has(tool) ? text(json(args)['path']) : ''
  return callStarted({ id: text(id), tool, gist: gistOf(args), path }, memory)
}

export function toolEnded({ toolCallId: id, result, isError }: JsonEvent, memory: Memory): Reading {
  const output = wordsIn(json(result)['content'])
  return callEnded(text(id), { output, isError: isError === true }, memory)
}
