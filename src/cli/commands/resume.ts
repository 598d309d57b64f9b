import fs from 'node:fs'
import { shownName } from '../../api/contract/shown-name.ts'
import type { ResumePreview, SessionView } from '../../api/contract/responses.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { readResumePreview } from '../../views/resume-preview.ts'
import { readTranscriptLength } from '../../views/output-log-source.ts'
import type { Home } from '../../state/home.ts'
import { readSession, watchSession } from '../../views/read-session.ts'
import { isLoop, isResumable } from '../../views/describe-session.ts'
import { ensureDaemon, findRespondingDaemon } from '../daemon/start-and-stop-daemon.ts'
import { isLive } from '../session/find-session.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import type { Paint } from '../terminal/colors.ts'
import { refuseFollowWithJson } from '../args/check-positionals.ts'
import { showResumed } from '../resume/show-resume.ts'
import { findImportable, importSession, undoFetches } from '../resume/import-session.ts'
import { previewLines } from '../resume/show-resume.ts'
import { pickSession } from '../session/find-session.ts'
import { stateLine } from '../session/format-session.ts'
import { parseEnvChanges } from '../resume/import-session.ts'
import { type Command, type CommandContext, resolvePath } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { sessionArgument } from '../args/command-definition.ts'

/** Milliseconds. A supervisor restarts an agent within a second of its own start. */
const RECOVERY_TIMEOUT = 10_000

export const command: Command = {
  name: 'resume',
  group: 'Work',
  order: 60,
  summary: 'continue a session that was stopped, failed, rests or waits for you',
  about: `The agent continues its own conversation where it was interrupted; messages that it has
not read come next. Its time and its budget start again from zero. It keeps the
environment it was started with, except for what --env changes. To give more work to a
session that is done, send it a message.

The command first says what it found and what it will do; --dry-run stops there. If a
conversation cannot be continued, a new one gets the task, what git shows, the plan and
the last words.

On another machine, in a clone of the repository that checkpoints were pushed to,
--from REMOTE fetches them and continues the session there. It shows the agent and the
messages first, and asks you. The session has autonomy ask unless your own configuration
says otherwise. oneshot claims the session on the remote, so that only one machine
continues it; --take-over takes it from a machine that is lost.`,
  arguments: [sessionArgument('resumable', 'else this directory’s latest that can be resumed')],
  options: [
    OPTIONS.envChange,
    OPTIONS.movedTo,
    OPTIONS.from,
    OPTIONS.takeOver,
    OPTIONS.yes,
    OPTIONS.dryRun,
    OPTIONS.follow,
    OPTIONS.json,
  ],
  examples: [
    { argv: ['resume'], description: 'this directory’s most recent one that can be resumed' },
    { argv: ['resume', 'fix-auth', '--follow'], description: 'and see what it does' },
    { argv: ['resume', 'fix-auth', '--dry-run'], description: 'what there is, and what would be done' },
    { argv: ['resume', 'fix-auth', '--from', 'origin'], description: 'in a fresh clone, on another machine' },
    { argv: ['resume', 'fix-auth', '--env', 'ANTHROPIC_API_KEY'], description: 'with the key that is set here now' },
  ],
  run: resume,
}

/** The parts that were missing and that the command restored. */
interface ResumeResult {
  readonly session: SessionView
  readonly supervision: boolean
  readonly work: boolean
}

async function resume(args: ParsedArgs, context: CommandContext): Promise<number> {
  refuseFollowWithJson(args)
  const isRemoteDryRun = args.has(OPTIONS.from) && args.has(OPTIONS.dryRun)
  return isRemoteDryRun
    ? undoFetches(context, onFetched => resumeOrImport(args, context, onFetched))
    : resumeOrImport(args, context)
}

async function resumeOrImport(
  args: ParsedArgs,
  context: CommandContext,
  onFetched?: Parameters<typeof findImportable>[2],
): Promise<number> {
  const saved = await findImportable(args, context, onFetched)
  if (saved !== null) return importSession(saved, args, context)
  const { home, screen } = context
  const isSupervised = (await findRespondingDaemon(home)) !== undefined
  const canResume = (session: SessionView): boolean => isResumable(session) || (!isSupervised && isLive(session))
  const chosen = pickSession(context, args.positionals[0], canResume)
  if (args.has(OPTIONS.dryRun)) return printPreview(chosen, args, context, isSupervised)
  const logOffset = readTranscriptLength(home, chosen.id)
  // If the folder is missing, the supervisor refuses the session or continues it in another folder: no preview applies.
  const isInPlace = !args.has(OPTIONS.movedTo) && fs.existsSync(chosen.cwd)
  if (!screen.isQuiet && isInPlace && (isResumable(chosen) || !isSupervised)) {
    const preview = await readPreview(chosen, context, isSupervised)
    for (const text of previewLines(chosen, preview, screen.err.paint)) screen.err.printLine(text)
  }
  const resumed = await resumeLocal(chosen, args, context, isSupervised)
  return showResumed(resumed.session, describeResult(resumed, screen.out.paint), args, context, logOffset)
}

async function printPreview(
  chosen: SessionView,
  args: ParsedArgs,
  context: CommandContext,
  isSupervised: boolean,
): Promise<number> {
  const { screen } = context
  const preview = await readPreview(chosen, context, isSupervised)
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson({ session: chosen, ...preview }))
  else for (const text of previewLines(chosen, preview, screen.out.paint)) screen.out.printLine(text)
  return 0
}

/**
 * Asks a running supervisor; without one it reads the preview from disk, and does not start a supervisor only to look.
 */
async function readPreview(
  { id }: SessionView,
  context: CommandContext,
  isSupervised: boolean,
): Promise<ResumePreview> {
  const stored = isSupervised ? undefined : readResumePreview(context.home, id)
  return stored ?? (await ensureDaemon(context)).previewResume(id)
}

/** Restores the missing part: the supervisor, the work, or both. */
async function resumeLocal(
  chosen: SessionView,
  args: ParsedArgs,
  context: CommandContext,
  isSupervised: boolean,
): Promise<ResumeResult> {
  const { home, env } = context
  const changes = parseEnvChanges(args, env)
  const cwd = args.value(OPTIONS.movedTo)
  const client = await ensureDaemon(context)
  const wasUnsupervised = !isSupervised || chosen.isUnsupervised === true
  const found = wasUnsupervised ? await readRecovered(home, chosen) : chosen
  const isRunning = wasUnsupervised && isLive(found) && !isResumable(found)
  if (isRunning) return { session: found, supervision: true, work: chosen.isUnsupervised === true }
  const session = await client.resume(chosen.id, {
    env: changes,
    ...(cwd !== undefined && { cwd: resolvePath(context, cwd) }),
  })
  return { session, supervision: !isSupervised, work: true }
}

/** Returns the session after the new supervisor has recorded the end of a dead process, and has restarted the agent. */
async function readRecovered(home: Home, chosen: SessionView): Promise<SessionView> {
  let latest = readSession(home, chosen.id) ?? chosen
  const isSettled = ({ phase }: SessionView): boolean => phase !== 'stopping'
  for await (const view of watchSession(home, chosen.id, AbortSignal.timeout(RECOVERY_TIMEOUT), isSettled))
    latest = view
  return latest
}

function describeResult({ session, supervision, work }: ResumeResult, paint: Paint): string {
  const supervisorNote = supervision ? 'the supervisor is back; ' : ''
  return (
    supervisorNote + (work ? describeResumed(session, paint) : `the work had continued: ${stateLine(session, paint)}`)
  )
}

function describeResumed(session: SessionView, paint: Paint): string {
  const { phase, attempt, thread } = session
  const name = shownName(session)
  if (phase === 'ended')
    return `${stateLine(session, paint)}\nits project is now in ${toOneLine(session.cwd)}; give it more to do: oneshot send ${name} "…"`
  if (phase !== 'starting' && phase !== 'running') return stateLine(session, paint)
  if (isLoop(session)) return `${paint.bold(name)} continues; oneshot ralph status ${name} --watch shows it`
  const continuation = thread === null ? 'begins a new conversation' : `resumes thread ${toOneLine(thread)}`
  return `${paint.bold(name)}: attempt ${attempt} ${continuation}`
}
