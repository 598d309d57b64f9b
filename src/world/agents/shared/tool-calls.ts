import { toOneLine } from '../../../lib/text/terminal-text.ts'
import type { Observation, ParsedLine, ParserState } from '../../../ports/agent.ts'
import { formatToolCall, formatToolResult } from './transcript-lines.ts'

/** In characters. A command may be a whole script; people need only enough of it to recognise it. */
const MAX_SUMMARY = 200

interface ToolCall {
  readonly id: string
  readonly tool: string
  readonly gist: string
  /** The file that the call is about to write; empty for any other kind of call. */
  readonly path: string
}

/** Remembers the file of a call, for programs whose end event reports the success of a call but not its file. */
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

/** Reports an event of a later version by its name, so that a person can add support for it. */
export function unknownEvent(what: string): ParsedLine {
  const name = what === '' ? 'an event without a type' : toOneLine(what).slice(0, 80)
  return { observations: [{ type: 'unknown', what: name }], text: null }
}
