import fs from 'node:fs'
import path from 'node:path'
import { loadConfig } from '../../api/config/load-config.ts'
import type { GroundView } from '../../api/contract/loop-view.ts'
import { refusal } from '../../api/contract/problems.ts'
import { isRefusal } from '../../lib/refusal.ts'
import type { Line } from '../line/line.ts'
import { checkFor, listFile } from '../ralph/ground.ts'
import { intentLines } from '../ralph/intent.ts'
import { guardedPaths } from '../ralph/guarded-paths.ts'
import { checkLoopLine, loopRequest } from '../ralph/loop-request.ts'
import { reviewPlan } from '../ralph/review-plan.ts'
import { presentLoop, startLoop } from '../ralph/start-loop.ts'
import { readPrompt } from '../run/read-prompt.ts'
import { directoryOf, environment, runRequest } from '../run/run-request.ts'
import type { Screen } from '../screen/screen.ts'
import { checkFollow } from '../session/check-follow.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

const EXAMPLE = 'oneshot build "a tool that renames photos by date"'

export async function build(line: Line, surroundings: Surroundings): Promise<number> {
  const { env, hooks, screen } = surroundings
  checkFollow(line)
  checkLoopLine(line)
  const cwd = directoryOf(line)
  const config = await loadConfig({ env, cwd, overrides: line.values(OPTIONS.config) })
  const idea = await readPrompt(line, surroundings, EXAMPLE)
  if (idea === undefined) throw refusal('usage', 'build needs an idea', EXAMPLE)
  const file = listFile(line, undefined, cwd) ?? 'PRD.md'
  const ground = await hooks.scout({
    cwd,
    list: file,
    env: environment(line, env, cwd),
    patterns: Object.values(guardedPaths(line, cwd)).flat(),
  })
  assertUnplanned(ground, file, cwd)
  const check = checkFor(line, ground)
  const worker = runRequest(line, surroundings, { config, cwd, prompt: idea })
  const planning = planningFor(line, screen)
  const request = loopRequest(worker, line, config, { kind: 'build', list: file, check, planning })
  if (!screen.isQuiet && !line.has(OPTIONS.json))
    for (const text of intentLines({ list: null, file, check, ground, worker }, line, screen.err.paint))
      screen.err.say(text)
  const session = await startLoop(request, worker, line, config, surroundings)
  if (typeof session === 'number') return session
  return planning === 'first'
    ? await reviewPlan(session, line, surroundings)
    : await presentLoop(session, line, surroundings)
}

/** A plan is shown to whoever is there to look at it. */
function planningFor(line: Line, { mayAsk }: Screen): 'only' | 'on' | 'first' {
  if (line.has(OPTIONS.planOnly)) {
    if (line.has(OPTIONS.yes)) throw refusal('usage', '--plan-only and --yes exclude each other', 'give one of them')
    return 'only'
  }
  return mayAsk && !line.has(OPTIONS.yes) && !line.has(OPTIONS.json) ? 'first' : 'on'
}

/** Somebody's plan is not written over. */
function assertUnplanned({ list }: GroundView, file: string, cwd: string): void {
  if (isRefusal(list)) {
    if (fs.existsSync(path.resolve(cwd, file))) throw list
    return
  }
  if (list.tasks.length === 0) return
  const many = list.tasks.length === 1 ? '1 task' : `${list.tasks.length} tasks`
  const open = list.tasks.filter(({ isDone }) => !isDone).length
  throw refusal(
    'usage',
    `${file} is a plan already: ${many}, ${open} of them open`,
    `work through it with: oneshot ralph ${file}; or plan into another file: --prd OTHER.md`,
  )
}
