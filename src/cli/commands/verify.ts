import type { VerificationView } from '../../api/contract/verification.ts'
import type { CheckpointView, SessionView } from '../../api/contract/responses.ts'
import { Trouble, errorMessage, isRefusal } from '../../lib/errors.ts'
import { readFinalOutput } from '../../views/final-output.ts'
import { type CheckRun, toVerificationView } from '../../views/verification-view.ts'
import { explainChangedCheck, readRequestedCheck } from '../../views/refuse-changed-check.ts'
import { readCheckpointsFromStart, readLoopWork, summarizeWork } from '../../views/work-summary.ts'
import { readSession } from '../../views/read-session.ts'
import { ensureDaemon } from '../daemon/start-and-stop-daemon.ts'
import { isLive, pickSession } from '../session/find-session.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { INTERRUPTED, untilInterrupted } from '../terminal/interrupts.ts'
import { toJson } from '../terminal/format.ts'
import { waitForCheckpoint } from '../session/wait.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import type { ColorName, Paint } from '../terminal/colors.ts'
import { formatDiffStat } from '../session/format-session.ts'
import path from 'node:path'
import { refusal } from '../../api/contract/problems.ts'
import type { Duration } from '../../lib/time.ts'
import { projectChecks } from '../../world/checks/detect-check.ts'
import { sessionFolder } from '../../state/session-folder.ts'
import { sessionArgument } from '../args/command-definition.ts'

export const command: Command = {
  name: 'verify',
  group: 'Look',
  order: 30,
  summary: 'check whether the work of a session is proven',
  about: `Looks at what git shows since the session began (commits, files, uncommitted changes), how
the session ended, what it said, and whether the project passes its own check: npm test,
pytest, cargo test, go test or make test. The command names the check before it runs it,
in the session’s directory. Exits with 0 when the work is proven, or when files have changed
and the project has no check; with 1 when it is refuted, with 3 when it is neither.`,
  arguments: [sessionArgument('sessions')],
  options: [OPTIONS.checkLine, OPTIONS.noCheck, OPTIONS.checkLimit, OPTIONS.json],
  examples: [
    { argv: ['verify'], description: 'this directory’s most recent session' },
    { argv: ['verify', 'fix-auth', '--check', 'npm run lint && npm test'], description: 'by a check of your own' },
    { argv: ['verify', 'fix-auth', '--no-check', '--json'], description: 'only what git and its record show' },
  ],
  run: verify,
}

const VERDICT_EXIT_CODES: { readonly [V in VerificationView['verdict']]: number } = {
  proven: 0,
  refuted: 1,
  'not-proven': 3,
}

async function verify(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { screen, env } = context
  const session = pickSession(context, args.positionals[0])
  const choice = chooseCheck(args, session.cwd, env, readRequestedCheck(context.home, session.id))
  const limit = args.value(OPTIONS.checkLimit)
  const outcome = await untilInterrupted(screen, {}, async signal => {
    const found = await gatherEvidence(context, session)
    // If the loop's work has not landed, a check of this folder proves nothing about it.
    const checkToRun = found.isApart && !args.has(OPTIONS.checkLine) ? 'off' : choice
    const checkResult = await runCheck(checkToRun, session, context, { limit, signal })
    return toVerificationView(found.session, found.shown, found.words, checkResult)
  })
  if (outcome.ended !== 'by-itself') return INTERRUPTED
  const proof = outcome.value
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson(proof))
  else if (screen.isQuiet) screen.out.printLine(proof.verdict)
  else for (const text of describeVerification(proof, screen.out.paint)) screen.out.printLine(text)
  return VERDICT_EXIT_CODES[proof.verdict]
}

/** Reads the evidence before any check runs, because a check may change files itself. */
async function gatherEvidence(context: CommandContext, picked: SessionView) {
  const { home } = context
  if (!isLive(picked) && picked.isSaving) await waitForCheckpoint(home, picked)
  const session = readSession(home, picked.id) ?? picked
  const words = await readFinalOutput(home, session)
  const isolated = readLoopWork(home, session)
  if (isolated !== null) return { session, shown: isolated, words, isApart: isolated.isApart }
  const checkpoints = await readCheckpointsFromStart(home, session)
  const now = isLive(session) && checkpoints.length > 0 ? await checkpointNow(context, session) : null
  const shown = await summarizeWork(home, session, checkpoints, now)
  return { session, shown, words, isApart: false }
}

/** Returns null when the supervisor cannot save now: the caller then uses the newest checkpoint. */
async function checkpointNow(context: CommandContext, { id }: SessionView): Promise<CheckpointView | null> {
  try {
    return (await (await ensureDaemon(context)).checkpoint(id)).checkpoint
  } catch (cause) {
    if (isRefusal(cause)) return null
    throw cause
  }
}

const VERDICT_COLORS: { readonly [V in VerificationView['verdict']]: ColorName } = {
  proven: 'green',
  refuted: 'red',
  'not-proven': 'yellow',
}
/** People read a longer list in the JSON. */
const MAX_SHOWN = 6

type LabeledLine = readonly [label: string, text: string]

/** Describes the verdict, and below it the evidence. */
export function describeVerification(proof: VerificationView, paint: Paint): string[] {
  const { verdict, sentence, check, state, reason, said, failures, remarks } = proof
  const lines = [
    ...workLines(proof),
    ...labeledLine('ended', reason === null || sentence.includes(reason) ? state : `${state}: ${reason}`),
    ...labeledLine('said', said !== null && !sentence.includes(said) && said !== reason ? firstLine(said) : null),
    ...failures.slice(-MAX_SHOWN).flatMap(line => labeledLine('output', line)),
    ...labeledLine('check', check && check.how),
    ...labeledLine('full output', check && check.ok !== true && check.log !== '' ? check.log : null),
    ...remarks.flatMap(remark => labeledLine('note', remark)),
  ]
  return [
    paint[verdict === 'proven' && check === null ? 'yellow' : VERDICT_COLORS[verdict]](toOneLine(sentence)),
    ...lines.map(([label, text]) => `  ${paint.dim(label.padEnd(12))} ${toOneLine(text)}`),
    ...(check === null || check.ok === true ? [] : quoteLines(check.tail)),
  ]
}

function labeledLine(label: string, text: string | null): LabeledLine[] {
  return text === null ? [] : [[label, text]]
}

function workLines({ work }: VerificationView): LabeledLine[] {
  if (work === null) return []
  const { commits, commitCount, names, files, uncommitted } = work
  const shown = commits.slice(0, MAX_SHOWN)
  const more = commitCount - shown.length
  return [
    ...shown.flatMap(({ id, subject }) => labeledLine('commit', `${id.slice(0, 10)} ${subject}`)),
    ...labeledLine('', more === 0 ? null : `and ${more} more`),
    ...labeledLine('changed', files === 0 ? 'nothing' : `${formatDiffStat(work)}: ${listNames(names, files)}`),
    ...labeledLine('uncommitted', uncommitted === 0 ? null : String(uncommitted)),
  ]
}

function listNames(names: readonly string[], all: number): string {
  const shown = names.slice(0, MAX_SHOWN)
  return [...shown, ...(all > shown.length ? ['…'] : [])].join(', ')
}

function firstLine(text: string): string {
  return text.split('\n').find(line => line.trim() !== '') ?? ''
}

function quoteLines(tail: string): string[] {
  return tail === '' ? [] : tail.split('\n').map(line => `  │ ${line}`)
}

/** A longer test suite should not run as part of this command. */
const CHECK_TIMEOUT: Duration = 15 * 60_000

const USER_CHOICE = 'as you said'

/** The check command to run, or the reason why none runs. */
export type CheckChoice = { readonly line: string; readonly why: string } | 'none' | 'off'

export function chooseCheck(
  args: ParsedArgs,
  cwd: string,
  env: NodeJS.ProcessEnv,
  requested: string | null,
): CheckChoice {
  const given = args.value(OPTIONS.checkLine)
  if (args.has(OPTIONS.noCheck)) {
    if (given === undefined) return 'off'
    throw refusal('usage', '--check and --no-check exclude each other', 'give one of them')
  }
  if (given !== undefined) return { line: given, why: USER_CHOICE }
  return requested === null
    ? (projectChecks(env).detect(cwd) ?? 'none')
    : { line: requested, why: 'as it was started with' }
}

/** Runs the check in the folder of the session, with your environment. */
export async function runCheck(
  choice: CheckChoice,
  session: SessionView,
  { home, env, screen }: CommandContext,
  options: { limit: Duration | undefined; signal: AbortSignal },
): Promise<CheckRun> {
  if (typeof choice === 'string') return choice
  const refusal = choice.why === USER_CHOICE ? null : await explainChangedCheck(home, session, choice.line)
  if (refusal !== null)
    return { ...choice, ok: null, how: `${refusal}; --check LINE runs it`, tests: null, tail: '', log: '' }
  if (!screen.isQuiet) screen.err.printLine(`checking: ${choice.line} (${choice.why})`)
  const log = path.join(sessionFolder(home, session.id).root, 'checks', `${Date.now()}.log`)
  const at = { cwd: session.cwd, env: definedVariables(env), log, limit: options.limit ?? CHECK_TIMEOUT }
  try {
    const { ok, how, tests = null, tail, isUnknown } = await projectChecks(env).run(choice, at, options.signal)
    return { ...choice, ok: isUnknown === true ? null : ok, how, tests, tail, log }
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    return { ...choice, ok: null, how: errorMessage(cause), tests: null, tail: '', log }
  }
}

function definedVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return Object.fromEntries(entries)
}
