import { boolean, string } from '../../../lib/codec.ts'
import { stateReader } from '../shared/restore-parser-state.ts'

/** Texts are empty without one. */
export type OpencodeState = {
  readonly thread: string
  /** The message of the current step. */
  readonly step: string
  /** The last text of the step. */
  readonly said: string
  /** The tool call of the step that somebody refused. */
  readonly refused: string
  /** The last error. */
  readonly error: string
  /** The parser has reported a turn result. */
  readonly hasWord: boolean
}

export const restoreState = stateReader<OpencodeState>(
  { thread: '', step: '', said: '', refused: '', error: '', hasWord: false },
  { thread: string, step: string, said: string, refused: string, error: string, hasWord: boolean },
)
