import { refusal } from '../../api/contract/problems.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import { pickLoop } from './pick-loop.ts'

/** Opens a task again and resumes the loop. */
export async function retry(
  line: Line,
  surroundings: Surroundings,
  { task, loop: word }: { task: string | undefined; loop: string | undefined },
): Promise<number> {
  const { home, hooks, screen } = surroundings
  const { out } = screen
  if (task === undefined)
    throw refusal('usage', 'ralph retry needs the number of a task', 'oneshot ralph status shows them')
  const loop = pickLoop(surroundings, word)
  const retried = await hooks.retryTask(home, loop.id, task, { isFresh: line.has(OPTIONS.fresh) })
  const session = await (await ensureDaemon(home)).resume(loop.id)
  if (line.has(OPTIONS.json)) out.say(toJson({ ...retried, session }))
  else if (!screen.isQuiet) {
    out.say(`${out.paint.bold(retried.name)} tries task ${retried.task.id} again: ${oneLine(retried.task.title)}`)
    if (retried.left !== null) out.say(`  its earlier work stays on ${retried.left}`)
  }
  return 0
}
