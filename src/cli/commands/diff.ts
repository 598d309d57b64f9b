import { refusal } from '../../api/contract/problems.ts'
import type { CheckpointView } from '../../api/contract/responses.ts'
import { escapeControls } from '../../lib/text/strip-terminal-controls.ts'
import { readChange, readCheckpoints, readDiff } from '../../views/checkpoints.ts'
import { ensureDaemon } from '../daemon/start-and-stop-daemon.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { type CheckpointOwner, findOwner } from '../checkpoints/find-checkpoint-owner.ts'
import { toJson } from '../terminal/format.ts'
import type { Output } from '../terminal/output.ts'
import { paintDiff, paintDiffStat } from '../terminal/paint-diff.ts'
import { isCheckpointReference, selectCheckpoint } from '../checkpoints/select-checkpoint.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { checkpointArgument, sessionArgument } from '../args/command-definition.ts'

export const command: Command = {
  name: 'diff',
  group: 'Keep',
  order: 30,
  summary: 'show what a session has changed',
  about: `Compares the first checkpoint with the newest unless you name two others: by number, by
first, last or now (now saves the working tree before it compares), or by seven or more
characters of a commit.`,
  arguments: [
    sessionArgument('sessions'),
    checkpointArgument('FROM', 'the one to compare with; first unless given'),
    checkpointArgument('TO', 'the one to compare; last unless given'),
  ],
  options: [OPTIONS.stat, OPTIONS.json],
  examples: [
    { argv: ['diff', 'fix-auth'], description: 'all that it changed' },
    { argv: ['diff', 'fix-auth', '3', '7', '--stat'], description: 'what happened between two checkpoints' },
    { argv: ['diff', 'fix-auth', 'last', 'now'], description: 'what changed since the last one' },
  ],
  run: diff,
}

async function diff(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { home, screen } = context
  const { out, err } = screen
  const { name, from, to } = parseDiffArgs(args.positionals)
  const session = await findOwner(name, undefined, context)
  const references = [from, to]
  if (references.includes('now') && !session.isLocal) refuseUnsavedSession(session)
  const all = await readCheckpoints(home, session)
  const now = references.includes('now')
    ? (await (await ensureDaemon(context)).checkpoint(session.id)).checkpoint
    : null
  const [first, last] = references.map(word =>
    word === 'now' && now !== null ? now : selectCheckpoint(all, word, session),
  )
  const between = { from: (first as CheckpointView).commit, to: (last as CheckpointView).commit }
  if (args.has(OPTIONS.json)) {
    const change = await readChange(home, session, between)
    out.printLine(toJson({ from: first, to: last, ...change }))
    return 0
  }
  const isStat = args.has(OPTIONS.stat)
  const text = await readDiff(home, session, between, { stat: isStat })
  if (text === '') err.printLine(noDifferenceMessage(session, first as CheckpointView, last as CheckpointView))
  else await out.write(Buffer.from(formatDiff(text, isStat, out)))
  return 0
}

/** Colours the text itself: git would pass the colours of a file, and of the repository's configuration, on. */
function formatDiff(text: string, isStat: boolean, { isTerminal, isColoured, paint }: Output): string {
  const safe = isTerminal ? escapeControls(text) : text
  if (!isColoured) return safe
  return isStat ? paintDiffStat(safe, paint) : paintDiff(safe, paint)
}

/**
 * Treats every word that looks like a checkpoint reference as one, and not as a name. `NAME@1 NAME@2` means `NAME 1 2`.
 */
function parseDiffArgs(given: readonly string[]): { name: string | undefined; from: string; to: string } {
  const parts = given.map(word => /^(.+)@([^@]+)$/.exec(word))
  const names = [...new Set(parts.flatMap(part => part?.[1] ?? []))]
  if (names.length > 1)
    throw refusal('usage', `${names.join(' and ')} are two sessions`, 'compare two checkpoints of one session')
  const words = [...names, ...given.flatMap((word, at) => parts[at]?.[2] ?? (names.includes(word) ? [] : [word]))]
  const [first, ...rest] = words
  const isNamed = first !== undefined && !isCheckpointReference(first)
  const [from = 'first', to = 'last'] = isNamed ? rest : words
  return { name: isNamed ? first : undefined, from, to }
}

function refuseUnsavedSession({ name }: CheckpointOwner): never {
  throw refusal(
    'no-session',
    `${name} belongs to no session here, so oneshot cannot save its files now`,
    `oneshot diff ${name}`,
  )
}

function noDifferenceMessage({ name }: CheckpointOwner, first: CheckpointView, last: CheckpointView): string {
  if (first.number === last.number) return `${name} has changed nothing since checkpoint ${first.number}`
  return `checkpoints ${first.number} and ${last.number} of ${name} hold the same files`
}
