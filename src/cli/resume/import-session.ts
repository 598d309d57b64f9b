import { loadConfig } from '../../api/config/load-config.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { KeyName } from '../../api/config/keys.ts'
import type { ResumePreview } from '../../api/contract/responses.ts'
import { formatCommandLine } from '../../lib/text/shell-words.ts'
import { stripCredentials } from '../../lib/mask/strip-url-credentials.ts'
import type { SessionId } from '../../state/session-folder.ts'
import { undoFetch } from '../../views/saved-sessions.ts'
import { hasSession } from '../../views/session-search.ts'
import { ensureDaemon } from '../daemon/start-and-stop-daemon.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { buildEnvironment } from '../run/run-request.ts'
import { parseSupervisionOptions } from '../run/supervision-options.ts'
import { confirmDefaultNo } from '../terminal/confirm.ts'
import { toJson } from '../terminal/format.ts'
import {
  type SavedSession,
  findSaved,
  otherMatchesNotice,
  refuseLocalSession,
  singleMatch,
} from '../checkpoints/find-saved-session.ts'
import { type CommandContext, currentDirectory } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { previewLines, showResumed } from './show-resume.ts'

/** Finds a session that this home does not know, but whose checkpoints are in this repository or on a remote of it. */
export async function findImportable(
  args: ParsedArgs,
  context: CommandContext,
  onFetched?: FetchListener,
): Promise<SavedSession | null> {
  const { home, screen } = context
  const [word] = args.positionals
  const remote = args.value(OPTIONS.from)
  const isLocal = hasSession(home, { prefix: { text: word ?? '', withIds: true } })
  // A line without a name never means a cleaned session.
  if (remote === undefined && (isLocal || word === undefined)) return null
  const all = await findSaved(word, remote, context, onFetched)
  const isContinued = ({ claim }: SavedSession): boolean => all.some(({ sessionId }) => sessionId === claim?.sessionId)
  const found = all.filter(
    saved => saved.isResumable && !isContinued(saved) && !hasSession(home, { id: saved.sessionId }),
  )
  if (found.length === 0 && remote === undefined) return null
  if (found.length === 0) refuseLocalSession(word, home, 'resume')
  const [unresumable] = all.filter(({ isResumable }) => !isResumable)
  if (found.length === 0 && unresumable !== undefined) refuseWithoutRecord(unresumable, remote ?? '')
  const saved = singleMatch(found, word, remote)
  if (!screen.isQuiet) for (const text of otherMatchesNotice(saved, found)) screen.err.printLine(text)
  const claim = saved.claim ?? findClaim(saved, all)
  if (claim !== undefined && !args.has(OPTIONS.takeOver)) refuseClaimed(saved, claim, remote)
  return saved
}

/**
 * Returns the claim with which another machine works on the session: nobody else may continue it without --take-over.
 */
function findClaim({ sessionId, isAtWork }: SavedSession, all: readonly SavedSession[]): SavedSession['claim'] {
  return isAtWork ? all.find(({ claim }) => claim?.sessionId === sessionId)?.claim : undefined
}

/** The checkpoints have files, but no facts to continue with. */
function refuseWithoutRecord({ name }: SavedSession, remote: string): never {
  const address = stripCredentials(remote)
  throw refusal(
    'cannot-restore',
    `the record of ${name} on ${address} cannot be read, so no machine can continue it`,
    `to get its files: ${formatCommandLine(['oneshot', 'restore', name, '--from', address])}`,
  )
}

function refuseClaimed(
  { name, sessionId }: SavedSession,
  claim: { sessionId: SessionId; host: string },
  remote?: string,
): never {
  const from = remote === undefined ? [] : ['--from', stripCredentials(remote)]
  throw refusal(
    'session-claimed',
    `${name} is continued on ${claim.host}, as session ${claim.sessionId}`,
    `if that machine is lost: ${formatCommandLine(['oneshot', 'resume', sessionId, ...from, '--take-over'])}`,
  )
}

export async function importSession(saved: SavedSession, args: ParsedArgs, context: CommandContext): Promise<number> {
  const { home, screen, env } = context
  if (args.has(OPTIONS.movedTo))
    throw refusal('usage', `${saved.name} continues in this directory`, 'leave out --cwd, or cd to it first')
  const cwd = currentDirectory(context)
  // The project's configuration has the same source as the session, so it must not decide about the session's rights
  // here.
  const config = await loadConfig({ env, cwd, overrides: args.values(OPTIONS.config), withoutProject: true })
  const remote = args.value(OPTIONS.from)
  const supervision = parseSupervisionOptions(args, config)
  const isConfigured = (key: KeyName): boolean => config[key].origin !== 'default'
  const request = {
    sessionId: saved.sessionId,
    name: saved.name,
    ...(remote !== undefined && { claim: { remote, isTakeOver: args.has(OPTIONS.takeOver) } }),
    run: {
      cwd,
      env: { ...buildEnvironment(args, context, cwd), ...parseEnvChanges(args, env) },
      umask: context.host.umask(),
      autonomy: isConfigured('autonomy') ? config.autonomy.value : ('ask' as const),
      supervision: {
        ...supervision,
        patience: {
          ...(supervision.patience?.silence !== undefined && { silence: supervision.patience.silence }),
          ...(isConfigured('limit-wait') && { limit: config['limit-wait'].value }),
          ...(isConfigured('resume-within') && { absence: config['resume-within'].value }),
        },
        saving: { ...supervision.saving, ...(remote !== undefined && { push: remote }) },
      },
    },
  }
  const client = await ensureDaemon({ home, env })
  const { outlook: preview } = await client.importSession({ ...request, dryRun: true })
  const isDry = args.has(OPTIONS.dryRun)
  const { out, err } = screen
  if (isDry && args.has(OPTIONS.json)) out.printLine(toJson({ session: null, ...preview }))
  else if (isDry) for (const text of [saved.name, ...previewLines(null, preview, out.paint)]) out.printLine(text)
  if (isDry) return 0
  if (!(await confirmImport(saved, preview, args, context))) {
    err.printLine('nothing was changed')
    return 1
  }
  const { session } = await client.importSession(request)
  if (session === null) throw refusal('bug', 'another machine took it over, and it is missing there')
  const continuation =
    session.thread === null
      ? 'begins a new conversation with a summary of the work'
      : `resumes thread ${session.thread}`
  return showResumed(
    session,
    `${screen.out.paint.bold(session.name)}: attempt ${session.attempt} ${continuation}`,
    args,
    context,
    0,
  )
}

/**
 * Another person may have written the agent's instructions: this shows them, and the agent starts only when the user
 * agrees.
 */
async function confirmImport(
  { name }: SavedSession,
  preview: ResumePreview,
  args: ParsedArgs,
  { screen }: CommandContext,
): Promise<boolean> {
  const { err, mayAsk, isQuiet } = screen
  const isAgreed = args.has(OPTIONS.yes)
  if (!isAgreed || !isQuiet) for (const text of [name, ...previewLines(null, preview, err.paint)]) err.printLine(text)
  if (isAgreed) return true
  if (!mayAsk) throw refusal('needs-yes', `this would give these messages to an agent here`, 'read them, and add --yes')
  return confirmDefaultNo('Anyone who can write to that repository may have written this. Continue it here?', screen)
}

type FetchListener = NonNullable<Parameters<typeof findSaved>[3]>

/** Undoes the fetches of the operation. */
export async function undoFetches<T>(
  context: CommandContext,
  operation: (onFetched: FetchListener) => Promise<T>,
): Promise<T> {
  const fetches: Parameters<FetchListener>[0][] = []
  try {
    return await operation(fetch => fetches.push(fetch))
  } finally {
    for (const fetch of fetches) await undoFetch(context.home, currentDirectory(context), fetch)
  }
}

/** Returns the variables to change. */
export function parseEnvChanges(args: ParsedArgs, env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    args.values(OPTIONS.envChange).map(([key, value]) => [key, value ?? currentValue(key, env)]),
  )
}

function currentValue(key: string, env: NodeJS.ProcessEnv): string {
  const value = env[key]
  if (value !== undefined) return value
  throw refusal('usage', `${key} is not set here`, `export ${key}, or give it as ${key}=VALUE`)
}
