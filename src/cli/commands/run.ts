import { loadConfig } from '../../api/config/load-config.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { takesMessages } from '../../views/way-on.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import { INTERRUPTED } from '../look.ts'
import type { Line } from '../line/line.ts'
import { checkUnsupervised } from '../run/agent-wishes.ts'
import { checkSaving } from '../run/check-saving.ts'
import { sayDocker } from '../run/docker-notice.ts'
import { sayAutonomyOnce } from '../run/autonomy-notice.ts'
import { sayLeftOut } from '../run/environment-notice.ts'
import { readPrompt } from '../run/read-prompt.ts'
import { directoryOf, runRequest } from '../run/run-request.ts'
import { terminalOf } from '../run/terminal-of.ts'
import { undisturbed } from '../run/undisturbed.ts'
import { afterSilence } from '../screen/after-silence.ts'
import { toJson } from '../screen/json.ts'
import type { Screen } from '../screen/screen.ts'
import { checkFollow } from '../session/check-follow.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function run(line: Line, surroundings: Surroundings): Promise<number> {
  const { env, home, hooks, screen } = surroundings
  const isFollowing = line.has(OPTIONS.follow)
  checkFollow(line)
  const cwd = directoryOf(line)
  const config = await loadConfig({ env, cwd, overrides: line.values(OPTIONS.config) })
  const prompt = await readPrompt(line, surroundings)
  const request = runRequest(line, surroundings, { config, cwd, prompt })
  const sayAutonomy = (): void => sayAutonomyOnce(request, line, config, surroundings)
  if (!config.resilient.value) {
    checkUnsupervised(request)
    sayAutonomy()
    return await hooks.runDirect(request)
  }
  await checkSaving(request, line, surroundings)
  sayDocker(request, line, surroundings)
  const client = await ensureDaemon(home)
  const tty = terminalOf(env)
  const asked = { ...request, umask: process.umask(), ...(tty !== undefined && { tty }) }
  const { session, isInterrupted } = await undisturbed(() =>
    afterSilence('saving the working tree, then starting …', screen, client.run(asked)),
  )
  if (isInterrupted) {
    screen.err.say(`${session.name} was already started; stop it with: oneshot stop ${session.name}`)
    return INTERRUPTED
  }
  sayAutonomy()
  if (!line.has(OPTIONS.json)) sayLeftOut(request.env, surroundings)
  if (!isFollowing) return answer(session, line, screen)
  if (!screen.isQuiet) screen.err.say(`${session.name}  (Ctrl-C leaves it running)`)
  const log = { raw: false, colour: screen.out.isColoured }
  const { followSession } = await import('../session/follow-session.ts') // It brings SQLite, which `run` does without.
  return await followSession(surroundings, session, { log, passStatus: true })
}

function answer(session: SessionView, line: Line, { out, isQuiet }: Screen): number {
  if (line.has(OPTIONS.json)) out.say(toJson(session))
  else if (isQuiet || !out.isTerminal) out.say(session.name)
  else for (const text of introduce(session, out.paint)) out.say(text)
  return 0
}

function introduce(session: SessionView, paint: Screen['out']['paint']): string[] {
  const { name, task, title } = session
  return [
    `${paint.bold(name)}  ${oneLine(title)}`,
    `  ${paint.dim('task'.padEnd(7))} ${task}`,
    `  ${paint.dim('follow'.padEnd(7))} oneshot follow ${name}`,
    `  ${paint.dim('attach'.padEnd(7))} oneshot attach ${name}`,
    ...(takesMessages(session) ? [`  ${paint.dim('send'.padEnd(7))} oneshot send ${name} "…"`] : []),
    `  ${paint.dim('stop'.padEnd(7))} oneshot stop ${name}`,
  ]
}
