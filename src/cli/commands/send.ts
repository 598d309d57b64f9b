import crypto from 'node:crypto'
import type { SendRequest } from '../../api/contract/requests.ts'
import type { MessageView, SessionView } from '../../api/contract/session-view.ts'
import { Refusal } from '../../lib/refusal.ts'
import { transcriptLength } from '../../views/log-source.ts'
import { readMessages } from '../../views/messages.ts'
import { readSessions } from '../../views/sessions.ts'
import { takesMessages } from '../../views/way-on.ts'
import type { Home } from '../../world/os/home.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import { outlook, type Sent } from '../send/outlook.ts'
import { partsOf, readMessage } from '../send/read-message.ts'
import { checkFollow } from '../session/check-follow.ts'
import { followSession } from '../session/follow-session.ts'
import { choose } from '../session/pick-session.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function send(line: Line, surroundings: Surroundings): Promise<number> {
  const { screen, home } = surroundings
  checkFollow(line)
  const sessions = readSessions(home)
  const parts = partsOf(line, sessions)
  const before = choose(sessions, parts.name, takesMessages)
  const text = await readMessage(parts, line, surroundings)
  const after = transcriptLength(home, before.id)
  const request = { key: crypto.randomUUID(), text: text.toString('base64') }
  const { session, message } = await deliver(home, before.id, request)
  if (line.has(OPTIONS.json)) screen.out.say(toJson({ session, message }))
  else say({ message, before, session, ahead: aheadOf(home, session, message) }, line, surroundings)
  if (!line.has(OPTIONS.follow)) return 0
  const log = { raw: false, colour: screen.out.isColoured, after }
  return await followSession(surroundings, session, { log, passStatus: true })
}

/** How a supervisor that is leaving, or has left, refuses. */
const GONE = new Set(['daemon-unreachable', 'daemon-refused'])

/** A supervisor that goes away in mid-call may have taken the message down or not: by its key it stays one message. */
async function deliver(
  home: Home,
  id: string,
  request: SendRequest,
): Promise<{ session: SessionView; message: MessageView }> {
  const client = await ensureDaemon(home)
  try {
    return await client.send(id, request)
  } catch (cause) {
    if (!(cause instanceof Refusal) || !GONE.has(cause.code)) throw cause
    const next = await ensureDaemon(home)
    return await next.send(id, request)
  }
}

function aheadOf(home: Home, session: SessionView, message: MessageView): MessageView[] {
  if (message.state !== 'accepted') return []
  return readMessages(home, session.id).filter(({ number, state }) => state === 'accepted' && number < message.number)
}

function say(sent: Sent, line: Line, { screen }: Surroundings): void {
  const { out, err, isQuiet } = screen
  if (line.has(OPTIONS.follow)) {
    if (!isQuiet) err.say(`${outlook(sent, Date.now())}  (Ctrl-C leaves it running)`)
  } else out.say(isQuiet || !out.isTerminal ? String(sent.message.number) : outlook(sent, Date.now()))
}
