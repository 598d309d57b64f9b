import fs from 'node:fs'
import path from 'node:path'
import type { LoopView } from '../../api/contract/loop-view.ts'
import { cutToWidth } from '../../lib/display-width.ts'
import { readable } from '../../lib/terminal-text.ts'
import type { Outlet } from '../screen/outlet.ts'

/** What stands above and below the plan: its name, what is left out, the question, and empty lines. */
const AROUND = 6
/** Fewer lines would not be worth a look. */
const LEAST = 6

/** The plan as it stands in its file, as much of it as the screen has room for. */
export function planLines(
  board: LoopView | undefined,
  { paint, width, height }: Pick<Outlet, 'paint' | 'width' | 'height'>,
): string[] {
  const tasks = board?.tasks ?? []
  const name = board?.list ?? 'the plan'
  const text = textOf(board) ?? tasks.map(({ id, title }) => `${id}  ${title}`).join('\n')
  const lines = readable(text, { colour: false }).trim().split('\n')
  const shown = lines.slice(0, Math.max(LEAST, height - AROUND))
  const rest = lines.length - shown.length
  return [
    '',
    paint.bold(`${name}: ${tasks.length === 1 ? '1 task' : `${tasks.length} tasks`}`),
    ...shown.map(line => cutToWidth(`  ${line}`, width)),
    ...(rest === 0 ? [] : [paint.dim(`  … ${rest} more ${rest === 1 ? 'line' : 'lines'} in ${name}`)]),
    '',
  ]
}

function textOf(board: LoopView | undefined): string | null {
  if (board === undefined || board.list === null) return null
  try {
    return fs.readFileSync(path.resolve(board.cwd, board.list), 'utf8')
  } catch {
    return null // It was moved this moment: the titles are known.
  }
}
