import { readInitialBoard, readBoard } from '../../views/loop/read-board.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import type { CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { sessionBoardLines } from './board.ts'
import { pickLoop } from './find-loop.ts'

export async function statusCommand(
  args: ParsedArgs,
  context: CommandContext,
  word: string | undefined,
): Promise<number> {
  const { home, screen } = context
  const session = pickLoop(context, word)
  const isJson = args.has(OPTIONS.json)
  if (args.has(OPTIONS.watch))
    return (await import('./watch-board.ts')).watchBoardUntilEnd(session, context, { isJson })
  const board = readBoard(home, session, Date.now())
  if (!isJson) for (const text of sessionBoardLines(session, board, screen.out)) screen.out.printLine(text)
  else screen.out.printLine(toJson(board ?? readInitialBoard(home, session, Date.now())))
  return 0
}
