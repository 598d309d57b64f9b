import { listOf, object, type Parser, string } from '../../../lib/codec.ts'
import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import type { Observation, ParsedLine, ParserState } from '../../../ports/agent.ts'
import { formatToolCall, formatToolResult } from './transcript-lines.ts'

/** In characters. A command may be a whole script; people need only enough of it to recognise it. */
const MAX_SUMMARY = 200

interface ToolCall {
  readonly id: string
  readonly tool: string
  readonly summary: string
  /** The file that the call is about to write; empty for any other kind of call. */
  readonly path: string
}

/** A file that an open call is about to write. */
export type PendingWrite = { readonly call: string; readonly path: string }

/** Reads the pending writes of a stored state. Older versions wrote `<call> <path>`. */
export const parsePendingWrites: Parser<readonly PendingWrite[]> = listOf(value => {
  if (typeof value !== 'string') return pendingWrite(value)
  const [call = ''] = value.split(' ', 1)
  return { call, path: value.slice(call.length + 1) }
})

const pendingWrite = object({ call: string, path: string })

/** Moves the pending writes to the field `writing`. Older versions wrote a field `writing <call>` for each. */
export function withWritingField(memory: ParserState): ParserState {
  const prefix = 'writing '
  const names = Object.keys(memory).filter(name => name.startsWith(prefix))
  return names.length === 0
    ? memory
    : { ...memory, writing: names.map(name => ({ call: name.slice(prefix.length), path: memory[name] })) }
}

type WithWrites = ParserState & { readonly writing: readonly PendingWrite[] }

/** Remembers the file of a call, for programs whose end event reports the success of a call but not its file. */
export function toolCallStarted<S extends WithWrites>({ id, tool, summary, path }: ToolCall, state: S): ParsedLine<S> {
  return {
    observations: [{ type: 'tool-started', id, tool, summary: toOneLine(summary).slice(0, MAX_SUMMARY) }],
    text: formatToolCall(tool, summary),
    memory: path === '' ? state : { ...state, writing: [...state.writing, { call: id, path }] },
  }
}

export function toolCallEnded<S extends WithWrites>(
  id: string,
  result: { output: string; isError: boolean },
  state: S,
): ParsedLine<S> {
  const edits = result.isError ? [] : state.writing.filter(({ call }) => call === id)
  return {
    observations: [{ type: 'tool-ended', id }, ...edits.map(({ path }): Observation => ({ type: 'edited', path }))],
    text: formatToolResult(result.output, result.isError),
    memory: { ...state, writing: state.writing.filter(({ call }) => call !== id) },
  }
}

/** Reports an event of a later version by its name, so that a person can add support for it. */
export function unknownEvent(what: string): ParsedLine<never> {
  const name = what === '' ? 'an event without a type' : toOneLine(what).slice(0, 80)
  return { observations: [{ type: 'unknown', what: name }], text: null }
}
