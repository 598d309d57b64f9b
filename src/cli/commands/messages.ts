import { refusal } from '../../api/contract/problems.ts'
import type { MessageView, SessionView } from '../../api/contract/session-view.ts'
import { oneLine, readable } from '../../lib/terminal-text.ts'
import { readMessage, readMessages } from '../../views/messages.ts'
import { takesMessages } from '../../views/way-on.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import type { Outlet } from '../screen/outlet.ts'
import type { Shade } from '../screen/paint.ts'
import { type Column, renderTable } from '../screen/table.ts'
import { relative } from '../screen/when.ts'
import { pickSession } from '../session/pick-session.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import { shownName } from '../session/state.ts'

export async function messages(line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen } = surroundings
  const { out, err } = screen
  const session = pickSession(surroundings, line.words[0], takesMessages)
  const all = readMessages(home, session.id)
  const number = line.value(OPTIONS.full)
  if (number !== undefined) await showOne(messageIn(all, number, session), line, session, surroundings)
  else if (line.has(OPTIONS.json)) out.say(toJson(all))
  else if (screen.isQuiet) for (const message of all) out.say(String(message.number))
  else if (all.length === 0) err.say(`${shownName(session)} is a command, and reads no messages`)
  else show(all, line, out)
  return 0
}

function messageIn(all: readonly MessageView[], number: number, { name }: SessionView): MessageView {
  const message = all.find(known => known.number === number)
  if (message !== undefined) return message
  const count = all.length === 1 ? '1 message' : `${all.length} messages`
  throw refusal('usage', `${name} was given ${count}, and no message ${number}`, `oneshot messages ${name}`)
}

/** Byte for byte for a program; a person's terminal is not the message's to play with. */
async function showOne(
  message: MessageView,
  line: Line,
  { id }: SessionView,
  { home, screen }: Surroundings,
): Promise<void> {
  const { out } = screen
  const bytes = readMessage(home, id, message.number)
  const text = Buffer.from(bytes).toString()
  if (line.has(OPTIONS.json)) out.say(toJson({ ...message, text }))
  else if (out.isTerminal) out.say(readable(text, { colour: false }).trimEnd())
  else await out.pour(bytes)
}

function show(all: readonly MessageView[], line: Line, out: Outlet): void {
  const isCut = out.isTerminal && !line.has(OPTIONS.noTrunc)
  const width = isCut ? out.width : Number.POSITIVE_INFINITY
  out.say(renderTable(columnsFor(out), all, { headers: !line.has(OPTIONS.noHeaders), width }).join('\n'))
}

const LOOKS: { readonly [S in MessageView['state']]: { readonly symbol: string; readonly shade: Shade } } = {
  accepted: { symbol: '◌', shade: 'cyan' },
  delivered: { symbol: '◔', shade: 'yellow' },
  confirmed: { symbol: '✔', shade: 'green' },
}

function columnsFor(out: Outlet): Column<MessageView>[] {
  const now = Date.now()
  const since = (message: MessageView): string => message.confirmedAt ?? message.deliveredAt ?? message.acceptedAt
  return [
    { header: 'NO', text: message => String(message.number) },
    {
      header: 'STATE',
      text: ({ state }) => `${LOOKS[state].symbol} ${state}`,
      paint: (text, { state }) => out.paint[LOOKS[state].shade](text),
    },
    { header: 'SINCE', text: message => (out.isTerminal ? relative(since(message), now) : since(message)) },
    { header: 'TEXT', text: message => oneLine(message.gist) },
  ]
}
