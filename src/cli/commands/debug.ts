import { refusal } from '../../api/contract/problems.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { formatIso } from '../../lib/time.ts'
import { type DebugReport, buildDebugReport } from '../../views/debug-report.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson, toJsonLine } from '../terminal/format.ts'
import { pickSession } from '../session/find-session.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { sessionArgument } from '../args/command-definition.ts'

export const command: Command = {
  name: 'debug',
  group: 'Look',
  order: 70,
  summary: 'print the stored state of a session for a bug report',
  about: `Prints the session’s record, the effects that wait in the outbox, its files with sizes and
the records of its shims, and the last events (50 unless --lines says otherwise). It
prints no prompt, no output and no environment, and hides secrets that it recognises;
titles, paths and reasons are in it, so read it before you publish it.`,
  arguments: [sessionArgument('sessions')],
  options: [OPTIONS.lines, OPTIONS.json],
  examples: [
    { argv: ['debug', 'fix-auth'], description: 'everything that a bug report needs' },
    { argv: ['debug', 'fix-auth', '--json'], shell: '> report.json', description: 'the same for a program' },
  ],
  run: debug,
}

const EVENTS = 50

/** Prints everything that a bug report about one session needs. */
async function debug(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { home, screen } = context
  const { id, name } = pickSession(context, args.positionals[0])
  const count = args.value(OPTIONS.lines) ?? EVENTS
  const report = buildDebugReport(home, id, count === 'all' ? Number.POSITIVE_INFINITY : count)
  if (report === null) throw refusal('no-session', `the database has no record of ${name}`)
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson(report))
  else for (const text of linesOf(report)) screen.out.printLine(text)
  return 0
}

function linesOf({ session, outbox, files, events }: DebugReport): string[] {
  const width = Math.max(0, ...files.map(file => file.path.length))
  return [
    'RECORD',
    ...toJson(session).split('\n'),
    '',
    'OUTBOX',
    ...(outbox.length === 0 ? ['(empty)'] : outbox.map(toJsonLine)),
    '',
    'FILES',
    ...files.map(({ path, bytes, modified, content }) => {
      const record = content === undefined ? '' : `  ${toOneLine(content)}`
      return `${toOneLine(path).padEnd(width)}  ${String(bytes).padStart(10)}  ${modified}${record}`
    }),
    '',
    'EVENTS',
    ...events.map(({ at, ...event }) => `${formatIso(at)}  ${toJsonLine(event)}`),
  ]
}
