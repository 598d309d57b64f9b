import fs from 'node:fs'
import path from 'node:path'
import type { OutlookView, SessionView } from '../../api/contract/session-view.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { readOutlook } from '../../views/outlook.ts'
import { transcriptLength } from '../../views/log-source.ts'
import { readSession } from '../../views/sessions.ts'
import { isLoop, isResumable } from '../../views/way-on.ts'
import type { Home } from '../../world/os/home.ts'
import { ensureDaemon, findAnswering } from '../ensure-daemon.ts'
import { isLive } from '../find-session.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import type { Paint } from '../screen/paint.ts'
import { checkFollow } from '../session/check-follow.ts'
import { showResumed } from '../resume/show-resumed.ts'
import { keptElsewhere, resumeElsewhere, withoutTrace } from '../resume/elsewhere.ts'
import { outlookLines } from '../resume/outlook-lines.ts'
import { pickSession } from '../session/pick-session.ts'
import { stateLine } from '../session/state.ts'
import { renewals } from '../resume/renewals.ts'
import { here, type Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

/** What was missing and is there again. */
interface Resumed {
  readonly session: SessionView
  readonly supervision: boolean
  readonly work: boolean
}

export async function resume(line: Line, surroundings: Surroundings): Promise<number> {
  checkFollow(line)
  const isFetched = line.has(OPTIONS.from) && line.has(OPTIONS.dryRun)
  return isFetched
    ? withoutTrace(surroundings, onFetched => takeUpOrOver(line, surroundings, onFetched))
    : takeUpOrOver(line, surroundings)
}

async function takeUpOrOver(
  line: Line,
  surroundings: Surroundings,
  onFetched?: Parameters<typeof keptElsewhere>[2],
): Promise<number> {
  const kept = await keptElsewhere(line, surroundings, onFetched)
  if (kept !== null) return resumeElsewhere(kept, line, surroundings)
  const { home, screen } = surroundings
  const isSupervised = (await findAnswering(home)) !== undefined
  const fits = (session: SessionView): boolean => isResumable(session) || (!isSupervised && isLive(session))
  const chosen = pickSession(surroundings, line.words[0], fits)
  if (line.has(OPTIONS.dryRun)) return tellOnly(chosen, line, surroundings, isSupervised)
  const after = transcriptLength(home, chosen.id)
  // Where its folder is gone, it is refused or goes on in another: there is nothing to foretell.
  const isInPlace = !line.has(OPTIONS.moved) && fs.existsSync(chosen.cwd)
  if (!screen.isQuiet && isInPlace && (isResumable(chosen) || !isSupervised)) {
    const outlook = await outlookFor(chosen, home, isSupervised)
    for (const text of outlookLines(chosen, outlook, screen.err.paint)) screen.err.say(text)
  }
  const resumed = await takeUp(chosen, line, surroundings, isSupervised)
  return showResumed(resumed.session, happened(resumed, screen.out.paint), line, surroundings, after)
}

async function tellOnly(
  chosen: SessionView,
  line: Line,
  { home, screen }: Surroundings,
  isSupervised: boolean,
): Promise<number> {
  const outlook = await outlookFor(chosen, home, isSupervised)
  if (line.has(OPTIONS.json)) screen.out.say(toJson({ session: chosen, ...outlook }))
  else for (const text of outlookLines(chosen, outlook, screen.out.paint)) screen.out.say(text)
  return 0
}

/** A supervisor is asked; where there is none, what is on disk tells it, and none is started only to look. */
async function outlookFor({ id }: SessionView, home: Home, isSupervised: boolean): Promise<OutlookView> {
  const known = isSupervised ? undefined : readOutlook(home, id)
  return known ?? (await ensureDaemon(home)).outlook(id)
}

/** Brings back what is missing: the supervisor, the work, or both. */
async function takeUp(
  chosen: SessionView,
  line: Line,
  { home, env }: Surroundings,
  isSupervised: boolean,
): Promise<Resumed> {
  const changes = renewals(line, env)
  const cwd = line.value(OPTIONS.moved)
  const client = await ensureDaemon(home)
  const found = isSupervised ? chosen : (readSession(home, chosen.id) ?? chosen)
  const isGoingOn = !isSupervised && isLive(found) && !isResumable(found)
  if (isGoingOn) return { session: found, supervision: true, work: false }
  const session = await client.resume(chosen.id, {
    env: changes,
    ...(cwd !== undefined && { cwd: path.resolve(here(), cwd) }),
  })
  return { session, supervision: !isSupervised, work: true }
}

function happened({ session, supervision, work }: Resumed, paint: Paint): string {
  const back = supervision ? 'the supervisor is back; ' : ''
  return back + (work ? takenUp(session, paint) : `the work had continued: ${stateLine(session, paint)}`)
}

function takenUp(session: SessionView, paint: Paint): string {
  const { name, phase, attempt, thread } = session
  if (phase === 'ended')
    return `${stateLine(session, paint)}\nits project is now in ${oneLine(session.cwd)}; give it more to do: oneshot send ${name} "…"`
  if (phase !== 'starting' && phase !== 'running') return stateLine(session, paint)
  if (isLoop(session)) return `${paint.bold(name)} continues; oneshot ralph status ${name} --watch shows it`
  const way = thread === null ? 'begins a new conversation' : `resumes thread ${oneLine(thread)}`
  return `${paint.bold(name)}: attempt ${attempt} ${way}`
}
