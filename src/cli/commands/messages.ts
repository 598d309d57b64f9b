import { refusal } from '../../api/contract/problems.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import type { MessageView, SessionView } from '../../api/contract/responses.ts'
import { toOneLine, renderTerminalText } from '../../lib/text/strip-terminal-controls.ts'
import { readMessage, readMessages } from '../../views/read-session.ts'
import { takesMessages } from '../../views/describe-session.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import type { Output } from '../terminal/output.ts'
import type { ColorName } from '../terminal/colors.ts'
import { type Column, renderTable } from '../terminal/table.ts'
import { relativeTime } from '../terminal/format.ts'
import { pickSession } from '../session/find-session.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { sessionArgument } from '../args/command-definition.ts'

export const command: Command = {
  name: 'messages',
  group: 'Look',
  order: 80,
  summary: 'show the messages of a session, and which of them the agent has read',
  about: `Accepted: the message is on disk. Delivered: an attempt was started with it. Confirmed:
it is in the agent’s own record of the conversation. Number 1 is the prompt.`,
  arguments: [sessionArgument('agents', 'else this directory’s latest that has an agent')],
  options: [OPTIONS.full, OPTIONS.noHeaders, OPTIONS.noTrunc, OPTIONS.json],
  examples: [
    { argv: ['messages', 'fix-auth'], description: 'all of them' },
    { argv: ['messages', 'fix-auth', '--full', '2'], description: 'one of them, as it was sent' },
  ],
  run: messages,
}

async function messages(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { home, screen } = context
  const { out, err } = screen
  const session = pickSession(context, args.positionals[0], takesMessages)
  const all = readMessages(home, session.id)
  const number = args.value(OPTIONS.full)
  if (number !== undefined) await printMessage(findMessage(all, number, session), args, session, context)
  else if (args.has(OPTIONS.json)) out.printLine(toJson(all))
  else if (screen.isQuiet) for (const message of all) out.printLine(String(message.number))
  else if (all.length === 0) err.printLine(`${shownName(session)} is a command, and reads no messages`)
  else printTable(all, args, out)
  return 0
}

function findMessage(all: readonly MessageView[], number: number, { name }: SessionView): MessageView {
  const message = all.find(known => known.number === number)
  if (message !== undefined) return message
  const count = all.length === 1 ? '1 message' : `${all.length} messages`
  throw refusal('usage', `${name} was given ${count}, and no message ${number}`, `oneshot messages ${name}`)
}

/** Writes the exact bytes for a program; for a terminal it removes control characters. */
async function printMessage(
  message: MessageView,
  args: ParsedArgs,
  { id }: SessionView,
  { home, screen }: CommandContext,
): Promise<void> {
  const { out } = screen
  const bytes = readMessage(home, id, message.number)
  const text = Buffer.from(bytes).toString()
  if (args.has(OPTIONS.json)) out.printLine(toJson({ ...message, text }))
  else if (out.isTerminal) out.printLine(renderTerminalText(text, { colour: false }).trimEnd())
  else await out.write(bytes)
}

function printTable(all: readonly MessageView[], args: ParsedArgs, out: Output): void {
  const isTruncated = out.isTerminal && !args.has(OPTIONS.noTrunc)
  const width = isTruncated ? out.width : Number.POSITIVE_INFINITY
  out.printLine(renderTable(columnsFor(out), all, { headers: !args.has(OPTIONS.noHeaders), width }).join('\n'))
}

const STATE_STYLES: { readonly [S in MessageView['state']]: { readonly symbol: string; readonly color: ColorName } } = {
  accepted: { symbol: '◌', color: 'cyan' },
  delivered: { symbol: '◔', color: 'yellow' },
  confirmed: { symbol: '✔', color: 'green' },
}

function columnsFor(out: Output): Column<MessageView>[] {
  const now = Date.now()
  const since = (message: MessageView): string => message.confirmedAt ?? message.deliveredAt ?? message.acceptedAt
  return [
    { header: 'NO', text: message => String(message.number) },
    {
      header: 'STATE',
      text: ({ state }) => `${STATE_STYLES[state].symbol} ${state}`,
      color: (text, { state }) => out.paint[STATE_STYLES[state].color](text),
    },
    { header: 'SINCE', text: message => (out.isTerminal ? relativeTime(since(message), now) : since(message)) },
    { header: 'TEXT', text: message => toOneLine(message.gist) },
  ]
}
