import { oneLine } from '../../../lib/terminal-text.ts'
import type { Memory, Observation, Reading } from '../../../ports/agent.ts'
import { called, gistOf, returned } from '../telling.ts'
import { fieldsOf, type PiEvent, textIn, wordOf } from './events.ts'

const WRITING = new Set(['edit', 'write'])
/** A command may be a whole script; what is kept of it is for people to recognise it by. */
const LONGEST_GIST = 200

/** A file that is to be written is kept in mind: the end of the call tells whether it was, but not which. */
export function toolStarted({ toolCallId, toolName, args }: PiEvent, memory: Memory): Reading {
  const id = wordOf(toolCallId)
  const tool = wordOf(toolName)
  const gist = gistOf(args)
  const path = WRITING.has(tool) ? wordOf(fieldsOf(args)['path']) : ''
  return {
    observations: [{ type: 'tool-started', id, tool, gist: oneLine(gist).slice(0, LONGEST_GIST) }],
    text: called(tool, gist),
    ...(path !== '' && { memory: { ...memory, [writingBy(id)]: path } }),
  }
}

export function toolEnded({ toolCallId, result, isError }: PiEvent, memory: Memory): Reading {
  const id = wordOf(toolCallId)
  const { [writingBy(id)]: path, ...others } = memory
  const isWritten = typeof path === 'string' && isError !== true
  const observations: Observation[] = [{ type: 'tool-ended', id }]
  if (isWritten) observations.push({ type: 'edited', path })
  return {
    observations,
    text: returned(textIn(fieldsOf(result)['content']), isError === true),
    ...(path !== undefined && { memory: others }),
  }
}

function writingBy(id: string): string {
  return `writing ${id}`
}
