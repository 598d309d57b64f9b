import { LOOP_KINDS } from '../../api/contract/known-agents.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import { refusal } from '../../api/contract/problems.ts'
import { parseSendRequest, type SendRequest } from '../../api/contract/requests.ts'
import type { MessageView, SessionView } from '../../api/contract/responses.ts'
import type { Session, Spec } from '../../core/session/session-state.ts'
import { invariant } from '../../lib/errors.ts'
import { sessionMask } from '../../views/final-output.ts'
import { toMessageView, toSessionView } from '../../views/session-view.ts'
import { summarize } from '../session-spec.ts'
import { wakeSession } from './resume.ts'
import { loadSession, type RouteContext, type Routes, sessionRoute, type SessionRouteCall } from './route.ts'

export const MESSAGE_ROUTES: Routes = {
  'POST /v1/sessions/:id/messages': sessionRoute({
    parse: parseSendRequest,
    handle: sendMessage,
    full: 'own',
    confined: 'own',
  }),
}

async function sendMessage(
  context: RouteContext,
  { body: request, id, caller }: SessionRouteCall<SendRequest>,
): Promise<{ session: SessionView; message: MessageView }> {
  const { spec, phase } = loadSession(context, id)
  if (!context.agents(spec.agent).takesPrompt) {
    throw refusal(
      'takes-no-messages',
      `${shownName(spec)} is a command, and reads no messages`,
      `oneshot attach ${shownName(spec)}`,
    )
  }
  assertTakesMessages(spec, context.store.live())
  const text = Buffer.from(request.text, 'base64')
  if (text.toString('latin1').trim() === '') throw refusal('message-empty', 'the message is empty')
  const summary = summarize(text, sessionMask(context.home, id))
  const deliver = (): Promise<number> =>
    context.engine.send(id, { key: request.key, summary, text, ...describeSender(caller) })
  const number = phase.name === 'ended' ? await wakeSession(deliver, context, { id, caller }) : await deliver()
  const session = loadSession(context, id)
  const message = session.messages.find(known => known.id === number)
  invariant(message !== undefined, `message ${number} of ${id} was accepted and is not there`)
  return { session: toSessionView(session, context.home), message: toMessageView(message) }
}

/** Refuses messages to a loop: only its agents read messages. */
function assertTakesMessages(loop: Spec, live: readonly Session[]): void {
  const { id, agent } = loop
  if (!LOOP_KINDS.includes(agent)) return
  const workers = live.filter(({ spec }) => spec.parent?.id === id)
  const hint =
    workers.length === 0
      ? 'no agent works for it now; add tasks to its list instead'
      : workers.map(({ spec }) => `oneshot send ${shownName(spec)} "…"`).join(', or ')
  throw refusal('takes-no-messages', `${shownName(loop)} is a loop and reads no messages; its agents do`, hint)
}

/** A loop's messages to its agents count as the user's. */
function describeSender(caller: Session | null): { by?: string } {
  return caller === null || LOOP_KINDS.includes(caller.spec.agent) ? {} : { by: caller.spec.name }
}
