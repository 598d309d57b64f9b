import fs from 'node:fs'
import path from 'node:path'
import { loadConfig } from '../../api/config/load-config.ts'
import type { ListView } from '../../api/contract/loop-view.ts'
import { refusal } from '../../api/contract/problems.ts'
import { nearest } from '../../lib/nearest.ts'
import { slug } from '../../lib/slug.ts'
import type { Line } from '../line/line.ts'
import { excessWord } from '../line/mistakes.ts'
import { assertRepository, checkFor, listFile, listFor } from '../ralph/ground.ts'
import { earlierLoop } from '../ralph/earlier-loop.ts'
import { type Intent, intentLines } from '../ralph/intent.ts'
import { guardedPaths } from '../ralph/guarded-paths.ts'
import { checkLoopLine, loopRequest } from '../ralph/loop-request.ts'
import { presentLoop, startLoop } from '../ralph/start-loop.ts'
import { directoryOf, environment, runRequest } from '../run/run-request.ts'
import { checkFollow } from '../session/check-follow.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Option } from '../table/command.ts'
import { LOOP_ACTIONS, RALPH } from '../table/loops.ts'
import { OPTIONS } from '../table/options.ts'

export async function ralph(line: Line, surroundings: Surroundings): Promise<number> {
  const [word, name, third] = line.words
  const action = LOOP_ACTIONS.find(known => known === word)
  if (action === undefined) return begin(line, surroundings)
  if (action === 'retry') {
    refuseOthers(line, action, [OPTIONS.fresh, OPTIONS.json])
    return (await import('../ralph/retry.ts')).retry(line, surroundings, { task: name, loop: third })
  }
  if (third !== undefined) throw excessWord(RALPH, third)
  if (action === 'status') {
    refuseOthers(line, action, [OPTIONS.watch, OPTIONS.json])
    return (await import('../ralph/show-board.ts')).showBoard(line, surroundings, name)
  }
  refuseOthers(line, action, [OPTIONS.squash, OPTIONS.dryRun, OPTIONS.json])
  return (await import('../ralph/land.ts')).land(line, surroundings, name)
}

async function begin(line: Line, surroundings: Surroundings): Promise<number> {
  const { env, hooks, screen } = surroundings
  checkFollow(line)
  checkLoopLine(line)
  refuseOthers(
    line,
    'itself',
    [...RALPH.options].filter(option => !FOR_ACTIONS.includes(option)),
  )
  const [word, more] = line.words
  if (more !== undefined) throw excessWord(RALPH, more)
  const cwd = directoryOf(line)
  const config = await loadConfig({ env, cwd, overrides: line.values(OPTIONS.config) })
  const wanted = listFile(line, word, cwd)
  assertNoCommand(wanted, cwd)
  const ground = await hooks.scout({
    cwd,
    list: wanted,
    env: environment(line, env, cwd),
    patterns: Object.values(guardedPaths(line, cwd)).flat(),
    beads: config.beads.value,
  })
  const list = listFor(line, ground)
  assertRepository(line, cwd, ground)
  const check = checkFor(line, ground)
  const file = list.file ?? 'the issues of beads'
  const asked = runRequest(line, surroundings, { config, cwd, prompt: Buffer.from(`work through ${file}`) })
  const worker = list.file === null ? { ...asked, beads: true } : asked
  const name = slug(path.parse(list.file ?? 'beads').name, 'list')
  const plan = { kind: 'ralph', list: list.file, check, planning: 'none', name } as const
  const request = loopRequest(worker, line, config, plan)
  if (!screen.isQuiet && !line.has(OPTIONS.json)) announce({ list, file, check, ground, worker }, line, surroundings)
  const session = await startLoop(request, worker, line, config, surroundings)
  return typeof session === 'number' ? session : await presentLoop(session, line, surroundings)
}

/** Says what will be done, and what might have been meant. */
function announce(intent: Intent & { list: ListView }, line: Line, { home, screen }: Surroundings): void {
  const { err } = screen
  for (const text of intentLines(intent, line, err.paint)) err.say(text)
  const earlier = earlierLoop(home, intent.worker.cwd, intent.list.file)
  if (earlier === undefined) return
  const way = `oneshot resume ${earlier.id}`
  err.say(
    `${err.paint.yellow('note:')} this is a new loop; the last one on this list is not finished; continue it with: ${way}`,
  )
}

/** Options of the actions, not of a new loop. */
const FOR_ACTIONS: readonly Option<unknown>[] = [OPTIONS.watch, OPTIONS.fresh, OPTIONS.squash, OPTIONS.dryRun]

/** What does nothing there is refused rather than passed over. */
function refuseOthers(line: Line, what: string, allowed: readonly Option<unknown>[]): void {
  const option = RALPH.options.find(known => line.has(known) && !allowed.includes(known))
  if (option === undefined) return
  const action = option === OPTIONS.watch ? 'status' : 'land'
  const hint = FOR_ACTIONS.includes(option) ? `oneshot ralph ${action} --${option.name}` : 'leave it out'
  throw refusal('usage', `--${option.name} does nothing for ralph ${what === 'itself' ? '' : what}`.trimEnd(), hint)
}

/** Words that people try for the actions. */
const SYNONYMS: Readonly<Record<string, string>> = {
  board: 'status',
  show: 'status',
  list: 'status',
  watch: 'status --watch',
  merge: 'land',
  again: 'retry',
}

/** A loop is stopped and resumed like any session. */
function assertNoCommand(list: string | null, cwd: string): void {
  if (list === null || fs.existsSync(path.join(cwd, list))) return
  const word = /[./]/.test(list) ? '' : list
  const meant = Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : nearest(word, LOOP_ACTIONS)
  if (meant !== undefined)
    throw refusal(
      'usage',
      `there is no file ${list}, and ralph has no such action`,
      `did you mean oneshot ralph ${meant}?`,
    )
  if (!['stop', 'resume', 'attach', 'log', 'wait'].includes(list)) return
  throw refusal('usage', `ralph has no action ${list}: a loop is a session like any other`, `oneshot ${list}`)
}
