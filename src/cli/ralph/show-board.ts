import { readBeginning, readBoard } from '../../views/loops.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import { linesOf } from './lines-of.ts'
import { pickLoop } from './pick-loop.ts'

export async function showBoard(line: Line, surroundings: Surroundings, word: string | undefined): Promise<number> {
  const { home, screen } = surroundings
  const session = pickLoop(surroundings, word)
  const isJson = line.has(OPTIONS.json)
  if (line.has(OPTIONS.watch)) return (await import('./watch.ts')).watch(session, surroundings, { isJson })
  const board = readBoard(home, session, Date.now())
  if (!isJson) for (const text of linesOf(session, board, screen.out)) screen.out.say(text)
  else screen.out.say(toJson(board ?? readBeginning(home, session, Date.now())))
  return 0
}
