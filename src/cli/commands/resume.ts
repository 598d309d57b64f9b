import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { transcriptLength } from '../../views/log-source.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import type { Paint } from '../screen/paint.ts'
import { checkFollow } from '../session/check-follow.ts'
import { followSession } from '../session/follow-session.ts'
import { pickSession } from '../session/pick-session.ts'
import { stateLine } from '../session/state.ts'
import { isResumable } from '../session/way-on.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function resume(line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen } = surroundings
  const { out, err, isQuiet } = screen
  checkFollow(line)
  const chosen = pickSession(surroundings, line.words[0], isResumable)
  const after = transcriptLength(home, chosen.id)
  const client = await ensureDaemon(home)
  const session = await client.resume(chosen.id, { env: renewed(line, surroundings.env) })
  if (line.has(OPTIONS.follow)) {
    if (!isQuiet) err.say(`${happened(session, err.paint)}  (Ctrl-C leaves it running)`)
    const log = { raw: false, colour: out.isColoured, after }
    return await followSession(surroundings, session, { log, passStatus: true })
  }
  if (line.has(OPTIONS.json)) out.say(toJson(session))
  else out.say(isQuiet || !out.isTerminal ? session.name : happened(session, out.paint))
  return 0
}

function renewed(line: Line, env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(line.values(OPTIONS.renew).map(([key, value]) => [key, value ?? ownValue(key, env)]))
}

function ownValue(key: string, env: NodeJS.ProcessEnv): string {
  const value = env[key]
  if (value !== undefined) return value
  throw refusal('usage', `${key} is not set here`, `export ${key}, or give it as ${key}=VALUE`)
}

function happened(session: SessionView, paint: Paint): string {
  const { name, phase, attempt, thread } = session
  if (phase !== 'starting' && phase !== 'running') return stateLine(session, paint)
  const way = thread === null ? 'begins afresh' : `resumes thread ${oneLine(thread)}`
  return `${paint.bold(name)}: attempt ${attempt} ${way}`
}
