import { refusal } from '../../api/contract/problems.ts'
import type { Line } from '../line/line.ts'
import { OPTIONS } from '../table/options.ts'

/** Refuses a line that asks for two things on stdout. */
export function checkFollow(line: Line): void {
  if (!line.has(OPTIONS.follow) || !line.has(OPTIONS.json)) return
  throw refusal(
    'usage',
    '--follow prints what the work writes, --json an object',
    'use oneshot wait NAME --json after it',
  )
}
