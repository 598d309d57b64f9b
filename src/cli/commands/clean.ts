import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { readSessions } from '../../views/sessions.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import { isLive } from '../find-session.ts'
import type { Line } from '../line/line.ts'
import { ask } from '../screen/ask.ts'
import { toJson } from '../screen/json.ts'
import { pickSessions } from '../session/pick-session.ts'
import { stateLine } from '../session/state.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function clean(line: Line, surroundings: Surroundings): Promise<number> {
  const { screen, home } = surroundings
  const sessions = chosen(line, surroundings)
  const names = sessions.map(session => session.name)
  const answer = (removed: readonly string[], word: string): number => {
    if (line.has(OPTIONS.json)) screen.out.say(toJson({ [word === 'removed' ? 'removed' : 'wouldRemove']: removed }))
    else if (screen.isQuiet || !screen.out.isTerminal) for (const name of removed) screen.out.say(name)
    else screen.out.say(removed.length === 0 ? 'nothing to remove' : `${word} ${removed.join(', ')}`)
    return 0
  }
  if (line.has(OPTIONS.dryRun)) return answer(names, 'would remove')
  if (sessions.length === 0) return answer([], 'removed')
  if (!(await mayRemove(line, surroundings, sessions))) return 1
  const client = await ensureDaemon(home)
  const { removed } = await client.clean({
    ids: sessions.map(session => session.id),
    ...(line.has(OPTIONS.dropCheckpoints) && { checkpoints: true }),
  })
  const gone = sessions.filter(session => removed.includes(session.id))
  answer(
    gone.map(session => session.name),
    'removed',
  )
  if (screen.err.isTerminal && !screen.isQuiet && !line.has(OPTIONS.json) && !line.has(OPTIONS.dropCheckpoints))
    for (const text of whatStays(gone)) screen.err.say(screen.err.paint.dim(text))
  return 0
}

/** Their checkpoints can be had as long as they are in git. */
function whatStays(gone: readonly SessionView[]): string[] {
  const [first, ...more] = gone.filter(({ checkpoint }) => checkpoint !== null)
  if (first === undefined) return []
  const others = more.length === 0 ? '' : `, and those of ${more.length} more`
  return [
    `refs/oneshot/${first.name} stays in ${first.cwd}${others}; bring it back there: oneshot restore ${first.name}`,
  ]
}

function chosen(line: Line, surroundings: Surroundings): SessionView[] {
  const named = line.words.length > 0
  const sessions = named
    ? pickSessions(surroundings, line.words)
    : readSessions(surroundings.home).filter(s => !isLive(s))
  const alive = sessions.find(isLive)
  if (alive !== undefined) {
    throw refusal('session-alive', `${alive.name} has not ended, so it stays`, `oneshot stop ${alive.name}`)
  }
  const age = line.value(OPTIONS.olderThan)
  const newest = age === undefined ? Number.POSITIVE_INFINITY : Date.now() - age
  return sessions.filter(session => Date.parse(session.endedAt ?? session.createdAt) <= newest)
}

/** Whoever names sessions means them; whoever names none is asked. */
async function mayRemove(line: Line, { screen }: Surroundings, sessions: readonly SessionView[]): Promise<boolean> {
  if (line.words.length > 0 || line.has(OPTIONS.yes)) return true
  const many = sessions.length === 1 ? '1 ended session' : `${sessions.length} ended sessions`
  if (!screen.mayAsk)
    throw refusal('needs-yes', `this would remove ${many} with all files`, 'add --yes, or look first with --dry-run')
  for (const session of sessions) screen.err.say(`  ${stateLine(session, screen.err.paint)}`)
  return await ask(`remove ${many} with all files?`)
}
