import type { Config } from '../../api/config/load-config.ts'
import type { RunRequest } from '../../api/contract/requests.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { INTERRUPTED } from '../look.ts'
import { sayAutonomyOnce } from '../run/autonomy-notice.ts'
import { sayDocker } from '../run/docker-notice.ts'
import { terminalOf } from '../run/terminal-of.ts'
import { undisturbed } from '../run/undisturbed.ts'
import { toJson } from '../screen/json.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

/** Starts a loop; a number is the exit code of whoever interrupted that. `worker`: what those who work are like. */
export async function startLoop(
  request: RunRequest,
  worker: RunRequest,
  line: Line,
  config: Config,
  surroundings: Surroundings,
): Promise<SessionView | number> {
  const { home, env, screen } = surroundings
  sayDocker(request, line, surroundings)
  const client = await ensureDaemon(home)
  const tty = terminalOf(env)
  const asked = { ...request, umask: process.umask(), ...(tty !== undefined && { tty }) }
  const { session, isInterrupted } = await undisturbed(() => client.run(asked))
  if (isInterrupted) {
    screen.err.say(`${session.name} was already started; stop it with: oneshot stop ${session.name}`)
    return INTERRUPTED
  }
  sayAutonomyOnce(worker, line, config, surroundings)
  return session
}

/** Says what was started, or follows it. */
export async function presentLoop(session: SessionView, line: Line, surroundings: Surroundings): Promise<number> {
  const { screen } = surroundings
  const { out, err, isQuiet } = screen
  const { name } = session
  if (line.has(OPTIONS.follow)) {
    if (!isQuiet) err.say(`${name}  (Ctrl-C leaves it running)`)
    const { followSession } = await import('../session/follow-session.ts')
    return await followSession(surroundings, session, { log: { raw: false, colour: out.isColoured }, passStatus: true })
  }
  if (line.has(OPTIONS.json)) out.say(toJson(session))
  else if (isQuiet || !out.isTerminal) out.say(name)
  else
    for (const text of [
      out.paint.bold(name),
      `  ${out.paint.dim('board'.padEnd(7))} oneshot ralph status ${name} --watch`,
      `  ${out.paint.dim('attach'.padEnd(7))} oneshot attach ${name}`,
      `  ${out.paint.dim('stop'.padEnd(7))} oneshot stop ${name}`,
    ])
      out.say(text)
  return 0
}
