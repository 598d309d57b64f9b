import { boolean, listOf, string } from '../../../lib/codec.ts'
import { stateReader } from '../shared/restore-parser-state.ts'

/** The parts of the output so far that the end of a turn does not repeat. Texts are empty without one. */
export type CodexState = {
  readonly thread: string
  /** The model's last text since its last tool call. */
  readonly said: string
  /** The last error. */
  readonly error: string
  /** The model is within an answer. */
  readonly answering: boolean
  /** The ids of the open tool calls. */
  readonly open: readonly string[]
}

export const NEW_TURN = { said: '', error: '', answering: false, open: [] } as const

export const restoreState = stateReader<CodexState>(
  { thread: '', ...NEW_TURN },
  { thread: string, said: string, error: string, answering: boolean, open: listOf(string) },
)
