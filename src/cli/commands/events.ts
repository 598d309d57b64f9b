import type { EventView, SessionView } from '../../api/contract/responses.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { readEventViews, watchEvents } from '../../views/read-session.ts'
import { INTERRUPTED, untilInterrupted } from '../terminal/interrupts.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson, toJsonLine } from '../terminal/format.ts'
import type { Output } from '../terminal/output.ts'
import { pickSession } from '../session/find-session.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { sessionArgument } from '../args/command-definition.ts'

export const command: Command = {
  name: 'events',
  group: 'Look',
  order: 60,
  summary: 'show everything that happened to a session, in order, with the evidence',
  about: `Shows each attempt, how it ended and why, each wait and each message that was read. With
--follow it shows events as they happen, until the session has ended; with --json as
well, one object a line.`,
  arguments: [sessionArgument('sessions')],
  options: [OPTIONS.lines, OPTIONS.follow, OPTIONS.json],
  examples: [
    { argv: ['events', 'fix-auth'], description: 'why it is as it is' },
    { argv: ['events', 'fix-auth', '--follow'], description: 'and what happens next' },
  ],
  run: events,
}

async function events(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { home, screen } = context
  const session = pickSession(context, args.positionals[0])
  const isJson = args.has(OPTIONS.json)
  if (args.has(OPTIONS.follow)) return await follow(session, context, isJson)
  const views = readEventViews(home, session.id, args.value(OPTIONS.lines) ?? 'all')
  if (isJson) printJsonList(views, screen.out)
  else for (const event of views) screen.out.printLine(formatEvent(event, screen.out))
  return 0
}

/** Prints the JSON of a list, one element after the other, so that the text of a long list need not fit into memory. */
function printJsonList(items: Iterable<unknown>, out: Output): void {
  let before = ''
  for (const item of items) {
    if (before !== '') out.printLine(`${before},`)
    else out.printLine('[')
    before = toJson(item).replaceAll(/^/gm, '  ')
  }
  if (before === '') out.printLine('[]')
  else out.printLine(`${before}\n]`)
}

/** Prints one line for each event as it happens, until the session has ended. */
async function follow(session: SessionView, { home, screen }: CommandContext, isJson: boolean): Promise<number> {
  const { out } = screen
  const { ended } = await untilInterrupted(screen, {}, async signal => {
    for await (const event of watchEvents(home, session.id, signal))
      out.printLine(isJson ? toJsonLine(event) : formatEvent(event, out))
  })
  return ended === 'interrupted' ? INTERRUPTED : 0
}

function formatEvent(event: EventView, out: Output): string {
  return `${out.paint.dim(event.at)}  ${toOneLine(event.text)}`
}
