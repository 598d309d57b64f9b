import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { transcriptLength } from '../../views/log-source.ts'
import { readSession } from '../../views/sessions.ts'
import { isResumable } from '../../views/way-on.ts'
import { ensureDaemon, findAnswering } from '../ensure-daemon.ts'
import { isLive } from '../find-session.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import type { Paint } from '../screen/paint.ts'
import { checkFollow } from '../session/check-follow.ts'
import { followSession } from '../session/follow-session.ts'
import { pickSession } from '../session/pick-session.ts'
import { stateLine } from '../session/state.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

/** What was missing and is there again. */
interface Resumed {
  readonly session: SessionView
  readonly supervision: boolean
  readonly work: boolean
}

export async function resume(line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen } = surroundings
  const { out, err, isQuiet } = screen
  checkFollow(line)
  const isSupervised = (await findAnswering(home)) !== undefined
  const fits = (session: SessionView): boolean => isResumable(session) || (!isSupervised && isLive(session))
  const chosen = pickSession(surroundings, line.words[0], fits)
  const after = transcriptLength(home, chosen.id)
  const resumed = await takeUp(chosen, line, surroundings, isSupervised)
  const { session } = resumed
  if (line.has(OPTIONS.follow)) {
    if (!isQuiet) err.say(`${happened(resumed, err.paint)}  (Ctrl-C leaves it running)`)
    const log = { raw: false, colour: out.isColoured, after }
    return await followSession(surroundings, session, { log, passStatus: true })
  }
  if (line.has(OPTIONS.json)) out.say(toJson(session))
  else if (isQuiet || !out.isTerminal) out.say(session.name)
  else out.say(happened(resumed, out.paint))
  return 0
}

/** Brings back what is missing: the supervisor, the work, or both. */
async function takeUp(
  chosen: SessionView,
  line: Line,
  { home, env }: Surroundings,
  isSupervised: boolean,
): Promise<Resumed> {
  const changes = renewed(line, env)
  const client = await ensureDaemon(home)
  const found = isSupervised ? chosen : (readSession(home, chosen.id) ?? chosen)
  const isGoingOn = !isSupervised && isLive(found) && !isResumable(found)
  if (isGoingOn) return { session: found, supervision: true, work: false }
  const session = await client.resume(chosen.id, { env: changes })
  return { session, supervision: !isSupervised, work: true }
}

function renewed(line: Line, env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(line.values(OPTIONS.renew).map(([key, value]) => [key, value ?? ownValue(key, env)]))
}

function ownValue(key: string, env: NodeJS.ProcessEnv): string {
  const value = env[key]
  if (value !== undefined) return value
  throw refusal('usage', `${key} is not set here`, `export ${key}, or give it as ${key}=VALUE`)
}

function happened({ session, supervision, work }: Resumed, paint: Paint): string {
  const back = supervision ? 'the supervisor is back; ' : ''
  return back + (work ? takenUp(session, paint) : `the work had gone on: ${stateLine(session, paint)}`)
}

function takenUp(session: SessionView, paint: Paint): string {
  const { name, phase, attempt, thread } = session
  if (phase !== 'starting' && phase !== 'running') return stateLine(session, paint)
  const way = thread === null ? 'begins afresh' : `resumes thread ${oneLine(thread)}`
  return `${paint.bold(name)}: attempt ${attempt} ${way}`
}
