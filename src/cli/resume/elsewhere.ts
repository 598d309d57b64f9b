import { loadConfig } from '../../api/config/load-config.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { findKept, forgetKept } from '../../views/checkpoints.ts'
import { readSessions } from '../../views/sessions.ts'
import { isResumable } from '../../views/way-on.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { environment } from '../run/run-request.ts'
import { supervisionWishes } from '../run/supervision-wishes.ts'
import { toJson } from '../screen/json.ts'
import { findMeant, type Kept, only, othersThan } from '../session/find-kept.ts'
import { here, type Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import { outlookLines } from './outlook-lines.ts'
import { renewals } from './renewals.ts'
import { showResumed } from './show-resumed.ts'

/** A session that nobody here knows of, but whose checkpoints are in this repository or on a remote of it. */
export async function keptElsewhere(line: Line, surroundings: Surroundings): Promise<Kept | null> {
  const { home, screen } = surroundings
  const [word] = line.words
  const remote = line.value(OPTIONS.from)
  const known = readSessions(home)
  const isKnown = known.some(({ name, task, id }) => [name, task, id].some(text => text.startsWith(word ?? '')))
  // Without a name nobody means what was cleared away.
  if (remote === undefined && (isKnown || word === undefined)) return null
  const all = await findMeant(word, remote, surroundings)
  const found = all.filter(kept => kept.isResumable && !known.some(({ id }) => id === kept.sessionId))
  if (found.length === 0 && remote === undefined) return null
  if (found.length === 0) refuseKnown(known, all)
  const kept = only(found, word, remote)
  if (!screen.isQuiet) for (const text of othersThan(kept, found)) screen.err.say(text)
  return kept
}

/** It need not be fetched: it is here. */
function refuseKnown(known: readonly SessionView[], all: readonly Kept[]): void {
  const session = known.find(({ id }) => all.some(kept => kept.sessionId === id))
  if (session === undefined) return
  const { name, cwd } = session
  const hint = isResumable(session) ? `oneshot resume ${name}` : `oneshot status ${name}`
  throw refusal('cannot-restore', `${name} is a session of this machine, in ${cwd}`, hint)
}

export async function resumeElsewhere(kept: Kept, line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen, env } = surroundings
  if (line.has(OPTIONS.moved))
    throw refusal('usage', `${kept.name} goes on in this directory`, 'leave out --cwd, or cd to it first')
  const cwd = here()
  const config = await loadConfig({ env, cwd, overrides: line.values(OPTIONS.config) })
  const remote = line.value(OPTIONS.from)
  const wishes = supervisionWishes(line, config)
  const request = {
    sessionId: kept.sessionId,
    name: kept.name,
    run: {
      cwd,
      env: { ...environment(line, env, cwd), ...renewals(line, env) },
      umask: process.umask(),
      maxTime: config['max-time'].value,
      autonomy: config.autonomy.value,
      ...wishes,
      saving: { ...wishes.saving, ...(remote !== undefined && { push: remote }) },
    },
  }
  const client = await ensureDaemon(home)
  const { outlook } = await client.adopt({ ...request, dryRun: true })
  const isDry = line.has(OPTIONS.dryRun)
  const { out, err } = screen
  if (isDry && line.has(OPTIONS.json)) out.say(toJson({ session: null, ...outlook }))
  else if (isDry) for (const text of [kept.name, ...outlookLines(null, outlook, out.paint)]) out.say(text)
  else if (err.isTerminal && !screen.isQuiet)
    for (const text of [kept.name, ...outlookLines(null, outlook, err.paint)]) err.say(text)
  if (isDry) return 0
  const { session } = await client.adopt(request)
  if (session === null) throw refusal('bug', 'it was taken over, and is not there')
  const way = session.thread === null ? 'begins afresh, and is told what was done' : `resumes thread ${session.thread}`
  return showResumed(
    session,
    `${screen.out.paint.bold(session.name)}: attempt ${session.attempt} ${way}`,
    line,
    surroundings,
    0,
  )
}

/** Whatever is fetched meanwhile is gone again afterwards. */
export async function withoutTrace<T>({ home }: Surroundings, deed: () => Promise<T>): Promise<T> {
  const cwd = here()
  const before = await findKept(home, cwd, null)
  try {
    return await deed()
  } finally {
    const since = (await findKept(home, cwd, null)).filter(
      ({ sessionId }) => !before.some(kept => kept.sessionId === sessionId),
    )
    for (const { name, sessionId } of since) await forgetKept(home, cwd, { name, sessionId })
  }
}
