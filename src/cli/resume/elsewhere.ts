import { loadConfig } from '../../api/config/load-config.ts'
import { refusal } from '../../api/contract/problems.ts'
import { fetchKept, findKept } from '../../views/checkpoints.ts'
import { readSessions } from '../../views/sessions.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { environment } from '../run/run-request.ts'
import { supervisionWishes } from '../run/supervision-wishes.ts'
import { toJson } from '../screen/json.ts'
import { here, type Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import { outlookLines } from './outlook-lines.ts'
import { renewals } from './renewals.ts'
import { showResumed } from './show-resumed.ts'

interface Kept {
  readonly name: string
  readonly sessionId: string
}

/** A session that nobody here knows of, but whose checkpoints are in this repository or on a remote of it. */
export async function keptElsewhere(line: Line, { home, env }: Surroundings): Promise<Kept | null> {
  const [word] = line.words
  const remote = line.value(OPTIONS.from)
  const known = readSessions(home)
  const isKnown = known.some(({ name, task, id }) => [name, task, id].some(text => text.startsWith(word ?? '')))
  // Without a name nobody means what was cleared away.
  if (remote === undefined && (isKnown || word === undefined)) return null
  const cwd = here()
  if (remote !== undefined) await fetchKept(home, cwd, { remote, name: null }, env)
  const found = (await findKept(home, cwd, null)).filter(
    kept => !known.some(({ id }) => id === kept.sessionId) && fits(kept.name, word),
  )
  if (found.length === 0 && remote === undefined) return null
  return only(found, word, remote)
}

function fits(name: string, word: string | undefined): boolean {
  return word === undefined || name === word || name.startsWith(word) || name.endsWith(`-${word}`)
}

function only(found: readonly Kept[], word: string | undefined, remote: string | undefined): Kept {
  const names = [...new Set(found.map(({ name }) => name))]
  const [first] = found
  if (first === undefined)
    throw refusal(
      'no-session',
      `${remote} keeps nothing of ${word ?? 'any session'}`,
      'git ls-remote shows its refs/oneshot',
    )
  if (names.length > 1)
    throw refusal(
      'session-ambiguous',
      `${names.length} sessions are kept here: ${names.slice(0, 8).join(', ')}`,
      'name one',
    )
  return first
}

export async function resumeElsewhere(kept: Kept, line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen, env } = surroundings
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
