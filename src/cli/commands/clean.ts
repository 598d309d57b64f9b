import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { workersOf } from '../../views/loops.ts'
import { readSessions } from '../../views/sessions.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import { isLive, withoutWorkers } from '../find-session.ts'
import type { Line } from '../line/line.ts'
import { ask } from '../screen/ask.ts'
import { toJson } from '../screen/json.ts'
import { findOrphans, orphansCalled, removeOrphans } from '../session/orphans.ts'
import { pickSessions } from '../session/pick-session.ts'
import { shownName, stateLine } from '../session/state.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function clean(line: Line, surroundings: Surroundings): Promise<number> {
  const { screen, home } = surroundings
  const isDropping = line.has(OPTIONS.dropCheckpoints)
  const orphans = isDropping ? await orphansCalled(line.words, surroundings) : []
  const isOrphan = (word: string): boolean => orphans.some(({ name, sessionId }) => word === name || word === sessionId)
  const words = line.words.filter(word => !isOrphan(word))
  const sessions = words.length === 0 && orphans.length > 0 ? [] : chosen(words, line, surroundings)
  const refs = orphans.map(({ name, sessionId }) => `refs/oneshot/${name}/${sessionId}`)
  const answer = (which: readonly SessionView[], word: string): number => {
    const names = [...which.map(line.has(OPTIONS.json) ? ({ name }) => name : shownName), ...refs]
    if (line.has(OPTIONS.json)) screen.out.say(toJson({ [word === 'removed' ? 'removed' : 'wouldRemove']: names }))
    else if (screen.isQuiet || !screen.out.isTerminal) for (const name of names) screen.out.say(name)
    else screen.out.say(names.length === 0 ? 'nothing to remove' : `${word} ${names.join(', ')}`)
    return 0
  }
  if (line.has(OPTIONS.dryRun)) {
    if (isDropping && line.words.length === 0) await tellOrphans(surroundings)
    return answer(sessions, 'would remove')
  }
  await removeOrphans(orphans, surroundings)
  if (sessions.length === 0) return answer([], 'removed')
  if (!(await mayRemove(line, surroundings, sessions))) return 1
  const client = await ensureDaemon(home)
  const { removed } = await client.clean({
    ids: sessions.map(session => session.id),
    ...(isDropping && { checkpoints: true }),
  })
  const gone = sessions.filter(session => removed.includes(session.id))
  answer(gone, 'removed')
  if (screen.err.isTerminal && !screen.isQuiet && !line.has(OPTIONS.json) && !isDropping)
    for (const text of whatStays(gone)) screen.err.say(screen.err.paint.dim(text))
  return 0
}

/** Nobody knows whether somebody else needs them: they are removed by name only. */
async function tellOrphans(surroundings: Surroundings): Promise<void> {
  for (const { name, sessionId, at } of await findOrphans(surroundings))
    surroundings.screen.err.say(
      `refs/oneshot/${name}/${sessionId} belongs to no session here, last saved ${at}; to remove it: oneshot clean --checkpoints ${sessionId}`,
    )
}

/** Their checkpoints can be had as long as they are in git. */
function whatStays(gone: readonly SessionView[]): string[] {
  const [first, ...more] = gone.filter(({ checkpoint }) => checkpoint !== null)
  if (first === undefined) return []
  const others = more.length === 0 ? '' : `, and those of ${more.length} more`
  return [
    `refs/oneshot/${first.name} stays in ${first.cwd}${others}; to restore its files there: oneshot restore ${first.name}`,
  ]
}

/** A loop goes with all who have worked for it; they stay as long as it does, because it may ask for them. */
function chosen(words: readonly string[], line: Line, surroundings: Surroundings): SessionView[] {
  const all = readSessions(surroundings.home)
  const isNamed = words.length > 0
  const heads = isNamed ? pickSessions(surroundings, words) : withoutWorkers(all).filter(session => !isLive(session))
  const alive = heads.map(session => holderOf(session, all)).find(session => session !== undefined)
  if (alive !== undefined) {
    throw refusal('session-alive', `${shownName(alive)} has not ended, so it stays`, `oneshot stop ${shownName(alive)}`)
  }
  const age = line.value(OPTIONS.olderThan)
  const newest = age === undefined ? Number.POSITIVE_INFINITY : Date.now() - age
  const old = heads.filter(session => Date.parse(session.endedAt ?? session.createdAt) <= newest)
  return [...new Map(old.flatMap(head => [head, ...workersOf(head, all)]).map(view => [view.id, view])).values()]
}

/** What is alive of it: itself, or the loop it works for. */
function holderOf(session: SessionView, all: readonly SessionView[]): SessionView | undefined {
  return [session, ...all.filter(({ id }) => id === session.parent)].find(isLive)
}

/** Whoever names sessions means them; whoever names none is asked. */
async function mayRemove(line: Line, { screen }: Surroundings, sessions: readonly SessionView[]): Promise<boolean> {
  if (line.words.length > 0 || line.has(OPTIONS.yes)) return true
  const many = sessions.length === 1 ? '1 ended session' : `${sessions.length} ended sessions`
  if (!screen.mayAsk)
    throw refusal(
      'needs-yes',
      `this would remove ${many} and ${sessions.length === 1 ? 'its' : 'their'} logs`,
      'add --yes, or look first with --dry-run',
    )
  for (const session of sessions) screen.err.say(`  ${stateLine(session, screen.err.paint)}`)
  return await ask(`remove ${many} and ${sessions.length === 1 ? 'its' : 'their'} logs? Your project files stay.`)
}
