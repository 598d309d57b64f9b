import { refusal } from '../../api/contract/problems.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import type { Home } from '../../state/home.ts'
import { findEnded, readWorkers } from '../../views/session-search.ts'
import { findUnlandedBranch } from '../../views/loop/read-board.ts'
import { isLoop } from '../../views/describe-session.ts'
import { readSession } from '../../views/read-session.ts'
import { ensureDaemon } from '../daemon/start-and-stop-daemon.ts'
import { isLive } from '../session/find-session.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { confirmDefaultNo } from '../terminal/confirm.ts'
import { toJson } from '../terminal/format.ts'
import { findOrphans, findOrphansByName, removeOrphans } from '../checkpoints/find-saved-session.ts'
import { pickSessions } from '../session/find-session.ts'
import { stateLine } from '../session/format-session.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { sessionArgument } from '../args/command-definition.ts'

export const command: Command = {
  name: 'clean',
  aliases: ['rm'],
  group: 'Work',
  order: 140,
  summary: 'remove ended sessions and their logs',
  about: `Your project files stay, and sessions that have not ended are not touched. Checkpoints
stay in git unless you give --checkpoints. The config key keep-ended removes old sessions
by itself, and never their checkpoints.`,
  arguments: [
    { ...sessionArgument('ended'), isRepeated: true, summary: 'the sessions to remove; all ended ones unless given' },
  ],
  options: [OPTIONS.olderThan, OPTIONS.dropCheckpoints, OPTIONS.dryRun, OPTIONS.yes, OPTIONS.json],
  examples: [
    { argv: ['clean', '--older-than', '7d', '--dry-run'], description: 'see what would go' },
    { argv: ['clean', '--yes'], description: 'remove all ended sessions without a question' },
    { argv: ['clean', 'fix-auth'], description: 'remove one' },
  ],
  run: clean,
}

/** Sessions in one request, so that each request ends soon. */
const BATCH = 50

async function clean(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { screen } = context
  const dropsCheckpoints = args.has(OPTIONS.dropCheckpoints)
  const orphans = dropsCheckpoints ? await findOrphansByName(args.positionals, context) : []
  const isOrphan = (word: string): boolean => orphans.some(({ name, sessionId }) => word === name || word === sessionId)
  const words = args.positionals.filter(word => !isOrphan(word))
  const sessions = words.length === 0 && orphans.length > 0 ? [] : selectSessions(words, args, context)
  const refs = orphans.map(({ name, sessionId }) => `refs/oneshot/${name}/${sessionId}`)
  const report = (which: readonly SessionView[], word: string): number => {
    const names = [...which.map(args.has(OPTIONS.json) ? ({ name }) => name : shownName), ...refs]
    if (args.has(OPTIONS.json))
      screen.out.printLine(toJson({ [word === 'removed' ? 'removed' : 'wouldRemove']: names }))
    else if (screen.isQuiet || !screen.out.isTerminal) for (const name of names) screen.out.printLine(name)
    else screen.out.printLine(names.length === 0 ? 'nothing to remove' : `${word} ${names.join(', ')}`)
    return 0
  }
  if (args.has(OPTIONS.dryRun)) {
    if (dropsCheckpoints && args.positionals.length === 0) await printOrphans(context)
    return report(sessions, 'would remove')
  }
  await removeOrphans(orphans, context)
  if (sessions.length === 0) return report([], 'removed')
  if (!(await confirmRemoval(args, context, sessions))) return 1
  const unlanded = sessions.flatMap(session => describeUnlanded(context.home, session))
  const client = await ensureDaemon(context)
  const removed = new Set<string>()
  for (let from = 0; from < sessions.length; from += BATCH) {
    const ids = sessions.slice(from, from + BATCH).map(session => session.id)
    const answer = await client.clean({ ids, ...(dropsCheckpoints && { checkpoints: true }) })
    for (const id of answer.removed) removed.add(id)
  }
  const removedSessions = sessions.filter(session => removed.has(session.id))
  report(removedSessions, 'removed')
  if (!screen.isQuiet && !args.has(OPTIONS.json)) for (const text of unlanded) screen.err.printLine(text)
  if (screen.err.isTerminal && !screen.isQuiet && !args.has(OPTIONS.json) && !dropsCheckpoints)
    for (const text of remainingCheckpoints(removedSessions)) screen.err.printLine(screen.err.paint.dim(text))
  return 0
}

/** Prints checkpoints without a session. oneshot cannot know who else needs them, so it removes them by name only. */
async function printOrphans(context: CommandContext): Promise<void> {
  for (const { name, sessionId, at } of await findOrphans(context))
    context.screen.err.printLine(
      `refs/oneshot/${name}/${sessionId} belongs to no session here, last saved ${at}; to remove it: oneshot clean --checkpoints ${sessionId}`,
    )
}

/** Returns a notice about finished work of a loop that is on no branch of the user. */
function describeUnlanded(home: Home, session: SessionView): string[] {
  const branch = isLoop(session) ? findUnlandedBranch(home, session) : null
  if (branch === null) return []
  return [
    `the finished tasks of ${shownName(session)} are not landed; they stay on ${branch} in ${session.cwd}: git merge ${branch}`,
  ]
}

/** Returns a notice about checkpoints that remain in git: the user can still restore them. */
function remainingCheckpoints(removed: readonly SessionView[]): string[] {
  const [first, ...more] = removed.filter(({ checkpoint }) => checkpoint !== null)
  if (first === undefined) return []
  const others = more.length === 0 ? '' : `, and those of ${more.length} more`
  return [
    `refs/oneshot/${first.name} stays in ${first.cwd}${others}; to restore its files there: oneshot restore ${first.name}`,
  ]
}

/** Selects a loop together with its workers. The workers stay as long as the loop, because it may read them. */
function selectSessions(words: readonly string[], args: ParsedArgs, context: CommandContext): SessionView[] {
  const { home } = context
  const minAge = args.value(OPTIONS.olderThan)
  const endedUntil = minAge === undefined ? Number.MAX_SAFE_INTEGER : Date.now() - minAge
  const isOld = ({ endedAt, createdAt }: SessionView): boolean => Date.parse(endedAt ?? createdAt) <= endedUntil
  const selected =
    words.length > 0
      ? pickEnded(context, words).filter(isOld)
      : findEnded(home, { isTopLevel: 'anywhere', endedUntil }, { limit: Number.MAX_SAFE_INTEGER })
  const withWorkers = selected.flatMap(session => [session, ...(isLoop(session) ? readWorkers(home, session) : [])])
  return [...new Map(withWorkers.map(view => [view.id, view])).values()]
}

function pickEnded(context: CommandContext, words: readonly string[]): SessionView[] {
  const named = pickSessions(context, words)
  const live = named.flatMap(session => findLiveOwner(context.home, session) ?? [])[0]
  if (live === undefined) return named
  throw refusal('session-alive', `${shownName(live)} has not ended, so it stays`, `oneshot stop ${shownName(live)}`)
}

/** Returns the live one of the session and its loop. */
function findLiveOwner(home: Home, session: SessionView): SessionView | undefined {
  const loop = session.parent === null ? undefined : readSession(home, session.parent)
  return [session, ...(loop === undefined ? [] : [loop])].find(isLive)
}

/** Asks for a confirmation only if the line names no sessions. */
async function confirmRemoval(
  args: ParsedArgs,
  { screen }: CommandContext,
  sessions: readonly SessionView[],
): Promise<boolean> {
  if (args.positionals.length > 0 || args.has(OPTIONS.yes)) return true
  const countText = sessions.length === 1 ? '1 ended session' : `${sessions.length} ended sessions`
  if (!screen.mayAsk)
    throw refusal(
      'needs-yes',
      `this would remove ${countText} and ${sessions.length === 1 ? 'its' : 'their'} logs`,
      'add --yes, or look first with --dry-run',
    )
  for (const session of sessions) screen.err.printLine(`  ${stateLine(session, screen.err.paint)}`)
  return await confirmDefaultNo(
    `remove ${countText} and ${sessions.length === 1 ? 'its' : 'their'} logs? Your project files stay.`,
    screen,
  )
}
