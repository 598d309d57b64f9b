import type { CheckpointView } from '../../api/contract/responses.ts'
import { readCheckpoints } from '../../views/checkpoints.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { type CheckpointOwner, findOwner } from '../checkpoints/find-checkpoint-owner.ts'
import { toJson } from '../terminal/format.ts'
import type { Output } from '../terminal/output.ts'
import { type Column, renderTable } from '../terminal/table.ts'
import { relativeTime } from '../terminal/format.ts'
import { formatDiffStat, formatLeftOut } from '../session/format-session.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { sessionArgument } from '../args/command-definition.ts'

export const command: Command = {
  name: 'checkpoints',
  group: 'Keep',
  order: 20,
  summary: 'list the checkpoints of a session',
  arguments: [sessionArgument('sessions')],
  options: [OPTIONS.lines, OPTIONS.noHeaders, OPTIONS.noTrunc, OPTIONS.json],
  examples: [
    { argv: ['checkpoints', 'fix-auth'], description: 'when, why, and how much had changed' },
    { argv: ['checkpoints', '-n', '5'], description: 'the last five of this directory’s most recent session' },
  ],
  run: checkpoints,
}

async function checkpoints(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { home, screen } = context
  const { out, err } = screen
  const session = await findOwner(args.positionals[0], undefined, context)
  const all = await readCheckpoints(home, session)
  const shown = lastCheckpoints(all, args)
  if (args.has(OPTIONS.json)) out.printLine(toJson(shown))
  else if (screen.isQuiet) for (const { number } of shown) out.printLine(String(number))
  else if (all.length === 0) err.printLine(`${session.name} has no checkpoints yet`)
  else if (shown.length > 0) printTable(shown, args, out)
  if (out.isTerminal && shown.length > 0 && !args.has(OPTIONS.json))
    err.printLine(err.paint.dim(nextSteps(session, shown)))
  return 0
}

function lastCheckpoints(all: readonly CheckpointView[], args: ParsedArgs): readonly CheckpointView[] {
  const lines = args.value(OPTIONS.lines)
  return lines === undefined || lines === 'all' ? all : lines === 0 ? [] : all.slice(-lines)
}

function printTable(all: readonly CheckpointView[], args: ParsedArgs, out: Output): void {
  const isTruncated = out.isTerminal && !args.has(OPTIONS.noTrunc)
  const width = isTruncated ? out.width : Number.POSITIVE_INFINITY
  out.printLine(renderTable(columnsFor(out), all, { headers: !args.has(OPTIONS.noHeaders), width }).join('\n'))
}

function columnsFor(out: Output): Column<CheckpointView>[] {
  const now = Date.now()
  return [
    { header: 'NO', text: ({ number }) => String(number) },
    { header: 'WHEN', text: ({ at }) => (out.isTerminal ? relativeTime(at, now) : at) },
    { header: 'TRIGGER', text: ({ trigger }) => trigger },
    { header: 'COMMIT', text: ({ commit }) => commit.slice(0, 10), color: text => out.paint.dim(text) },
    {
      header: 'CHANGE',
      text: checkpoint => [formatDiffStat(checkpoint), ...checkpoint.leftOut.map(formatLeftOut)].join('; '),
    },
  ]
}

function nextSteps({ name, push = null }: CheckpointOwner, all: readonly CheckpointView[]): string {
  const { number } = all.at(-1) as CheckpointView
  const pushed =
    push === null
      ? []
      : [push.number === null ? `nothing is on ${push.remote} yet` : `on ${push.remote}: up to ${push.number}`]
  return [...pushed, `see what changed: oneshot diff ${name}   restore one: oneshot restore ${name}@${number}`].join(
    '\n',
  )
}
