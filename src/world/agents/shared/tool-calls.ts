import { toOneLine } from '../../../lib/text/terminal-text.ts'
import type { Observation, ParsedLine, ParserState } from '../../../ports/agent.ts'
import { formatToolCall, formatToolResult } from './transcript-lines.ts'

/** A command may be a whole script; what is kept of it is for people to recognise it by. */
const MAX_SUMMARY = 200

interface ToolCall {
  readonly id: string
  readonly tool: string
  readonly gist: string
  /** The file it is about to write; empty when it is not that kind of call. */
  readonly path: string
}

/** For programs that tell of a call's end whether it went well, but not which file it was about: that is kept in mind. */
export function toolCallStarted({ id, tool, gist, path }: ToolCall, memory: ParserState): ParsedLine {
  return {
    observations: [{ type: 'tool-started', id, tool, gist: toOneLine(gist).slice(0, MAX_SUMMARY) }],
    text: formatToolCall(tool, gist),
    memory: path === '' ? memory : { ...memory, [writingKey(id)]: path },
  }
}

export function toolCallEnded(
  id: string,
  result: { output: string; isError: boolean },
  memory: ParserState,
): ParsedLine {
  const { [writingKey(id)]: path, ...others } = memory
  const ended: Observation = { type: 'tool-ended', id }
  const isWritten = typeof path === 'string' && !result.isError
  return {
    observations: isWritten ? [ended, { type: 'edited', path }] : [ended],
    text: formatToolResult(result.output, result.isError),
    memory: others,
  }
}

function writingKey(id: string): string {
  return `writing ${id}`
}

/** Something that a later version says: told by its name, so that somebody may teach us. */
export function unknownEvent(what: string): ParsedLine {
  const name = what === '' ? 'an event without a type' : toOneLine(what).slice(0, 80)
  return { observations: [{ type: 'unknown', what: name }], text: null }
}
