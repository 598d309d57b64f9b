import { oneLine } from '../../lib/terminal-text.ts'
import type { Memory, Observation, Reading } from '../../ports/agent.ts'
import { called, returned } from './telling.ts'

/** A command may be a whole script; what is kept of it is for people to recognise it by. */
const LONGEST_GIST = 200

interface Call {
  readonly id: string
  readonly tool: string
  readonly gist: string
  /** The file it is about to write; empty when it is not that kind of call. */
  readonly path: string
}

/** For programs that tell of a call's end whether it went well, but not which file it was about: that is kept in mind. */
export function callStarted({ id, tool, gist, path }: Call, memory: Memory): Reading {
  return {
    observations: [{ type: 'tool-started', id, tool, gist: oneLine(gist).slice(0, LONGEST_GIST) }],
    text: called(tool, gist),
    memory: path === '' ? memory : { ...memory, [writingBy(id)]: path },
  }
}

export function callEnded(id: string, result: { output: string; isError: boolean }, memory: Memory): Reading {
  const { [writingBy(id)]: path, ...others } = memory
  const ended: Observation = { type: 'tool-ended', id }
  const isWritten = typeof path === 'string' && !result.isError
  return {
    observations: isWritten ? [ended, { type: 'edited', path }] : [ended],
    text: returned(result.output, result.isError),
    memory: others,
  }
}

function writingBy(id: string): string {
  return `writing ${id}`
}
