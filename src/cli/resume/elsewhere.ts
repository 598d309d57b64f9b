import { loadConfig } from '../../api/config/load-config.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { KeyName } from '../../api/config/keys.ts'
import type { OutlookView } from '../../api/contract/session-view.ts'
import { commandLine } from '../../lib/quote.ts'
import { withoutLogin } from '../../lib/without-login.ts'
import { putBackFetched } from '../../views/checkpoints.ts'
import { readSessions } from '../../views/sessions.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { environment } from '../run/run-request.ts'
import { supervisionWishes } from '../run/supervision-wishes.ts'
import { ask } from '../screen/ask.ts'
import { toJson } from '../screen/json.ts'
import { findMeant, type Kept, only, othersThan, refuseKnown } from '../session/find-kept.ts'
import { here, type Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import { outlookLines } from './outlook-lines.ts'
import { renewals } from './renewals.ts'
import { showResumed } from './show-resumed.ts'

/** A session that nobody here knows of, but whose checkpoints are in this repository or on a remote of it. */
export async function keptElsewhere(
  line: Line,
  surroundings: Surroundings,
  onFetched?: OnFetched,
): Promise<Kept | null> {
  const { home, screen } = surroundings
  const [word] = line.words
  const remote = line.value(OPTIONS.from)
  const known = readSessions(home)
  const isKnown = known.some(({ name, task, id }) => [name, task, id].some(text => text.startsWith(word ?? '')))
  // Without a name nobody means what was cleared away.
  if (remote === undefined && (isKnown || word === undefined)) return null
  const all = await findMeant(word, remote, surroundings, onFetched)
  const isContinued = ({ claim }: Kept): boolean => all.some(({ sessionId }) => sessionId === claim?.sessionId)
  const found = all.filter(
    kept => kept.isResumable && !isContinued(kept) && !known.some(({ id }) => id === kept.sessionId),
  )
  if (found.length === 0 && remote === undefined) return null
  if (found.length === 0) refuseKnown(word, known, 'resume')
  const kept = only(found, word, remote)
  if (!screen.isQuiet) for (const text of othersThan(kept, found)) screen.err.say(text)
  const claim = kept.claim ?? claimFor(kept, all)
  if (claim !== undefined && !line.has(OPTIONS.takeOver)) refuseClaimed(kept, claim, remote)
  return kept
}

/** The claim by which another machine came to be at work on it: nobody else continues it unasked. */
function claimFor({ sessionId, isAtWork }: Kept, all: readonly Kept[]): Kept['claim'] {
  return isAtWork ? all.find(({ claim }) => claim?.sessionId === sessionId)?.claim : undefined
}

function refuseClaimed({ name, sessionId }: Kept, by: { sessionId: string; host: string }, remote?: string): never {
  const from = remote === undefined ? [] : ['--from', withoutLogin(remote)]
  throw refusal(
    'session-claimed',
    `${name} is continued on ${by.host}, as session ${by.sessionId}`,
    `if that machine is lost: ${commandLine(['oneshot', 'resume', sessionId, ...from, '--take-over'])}`,
  )
}

export async function resumeElsewhere(kept: Kept, line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen, env } = surroundings
  if (line.has(OPTIONS.moved))
    throw refusal('usage', `${kept.name} continues in this directory`, 'leave out --cwd, or cd to it first')
  const cwd = here()
  // What the project says comes from where the session comes from: it has no say in what that may do here.
  const config = await loadConfig({ env, cwd, overrides: line.values(OPTIONS.config), withoutProject: true })
  const remote = line.value(OPTIONS.from)
  const wishes = supervisionWishes(line, config)
  const isOwn = (key: KeyName): boolean => config[key].origin !== 'default'
  const request = {
    sessionId: kept.sessionId,
    name: kept.name,
    ...(remote !== undefined && { claim: { remote, isTakeOver: line.has(OPTIONS.takeOver) } }),
    run: {
      cwd,
      env: { ...environment(line, env, cwd), ...renewals(line, env) },
      umask: process.umask(),
      maxTime: config['max-time'].value,
      autonomy: isOwn('autonomy') ? config.autonomy.value : ('ask' as const),
      ...wishes,
      patience: {
        ...(wishes.patience?.silence !== undefined && { silence: wishes.patience.silence }),
        ...(isOwn('limit-wait') && { limit: config['limit-wait'].value }),
        ...(isOwn('resume-within') && { absence: config['resume-within'].value }),
      },
      saving: { ...wishes.saving, ...(remote !== undefined && { push: remote }) },
    },
  }
  const client = await ensureDaemon(home)
  const { outlook } = await client.adopt({ ...request, dryRun: true })
  const isDry = line.has(OPTIONS.dryRun)
  const { out, err } = screen
  if (isDry && line.has(OPTIONS.json)) out.say(toJson({ session: null, ...outlook }))
  else if (isDry) for (const text of [kept.name, ...outlookLines(null, outlook, out.paint)]) out.say(text)
  if (isDry) return 0
  if (!(await mayBegin(kept, outlook, line, surroundings))) {
    err.say('nothing was changed')
    return 1
  }
  const { session } = await client.adopt(request)
  if (session === null) throw refusal('bug', 'another machine took it over, and it is missing there')
  const way =
    session.thread === null
      ? 'begins a new conversation with a summary of the work'
      : `resumes thread ${session.thread}`
  return showResumed(
    session,
    `${screen.out.paint.bold(session.name)}: attempt ${session.attempt} ${way}`,
    line,
    surroundings,
    0,
  )
}

/** Somebody else may have written what the agent is told to do: it is shown, and begins only when its user agrees. */
async function mayBegin({ name }: Kept, outlook: OutlookView, line: Line, { screen }: Surroundings): Promise<boolean> {
  const { err, mayAsk, isQuiet } = screen
  const isAgreed = line.has(OPTIONS.yes)
  if (!isAgreed || !isQuiet) for (const text of [name, ...outlookLines(null, outlook, err.paint)]) err.say(text)
  if (isAgreed) return true
  if (!mayAsk) throw refusal('needs-yes', `this would give these messages to an agent here`, 'read them, and add --yes')
  return ask('Anyone who can write to that repository may have written this. Continue it here?')
}

type OnFetched = NonNullable<Parameters<typeof findMeant>[3]>

/** Puts back what is fetched meanwhile. */
export async function withoutTrace<T>({ home }: Surroundings, deed: (onFetched: OnFetched) => Promise<T>): Promise<T> {
  const all: Parameters<OnFetched>[0][] = []
  try {
    return await deed(fetched => all.push(fetched))
  } finally {
    for (const fetched of all) await putBackFetched(home, here(), fetched)
  }
}
