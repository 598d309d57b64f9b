import crypto from 'node:crypto'
import { shownName } from '../../api/contract/shown-name.ts'
import type { SendRequest } from '../../api/contract/requests.ts'
import type { MessageView, SessionView } from '../../api/contract/responses.ts'
import { Refusal } from '../../lib/errors.ts'
import type { SessionId } from '../../state/session-folder.ts'
import { readTranscriptLength } from '../../views/output-log-source.ts'
import { readMessages } from '../../views/read-session.ts'
import { describeAnswer, takesMessages } from '../../views/describe-session.ts'
import type { Home } from '../../state/home.ts'
import { ensureDaemon } from '../daemon/start-and-stop-daemon.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { relativeTime, toJson } from '../terminal/format.ts'
import { refuseFollowWithJson } from '../args/check-positionals.ts'
import { followSession } from '../session/follow-session.ts'
import { hasSession } from '../../views/session-search.ts'
import { pickSession } from '../session/find-session.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { refusal } from '../../api/contract/problems.ts'
import { isBlankText, readText, sourceName } from '../args/read-prompt-or-message.ts'
import { argumentBytes } from '../args/argument-and-env-bytes.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import type { Instant } from '../../lib/time.ts'
import { sessionArgument } from '../args/command-definition.ts'
import { textType } from '../args/value-types.ts'

export const command: Command = {
  name: 'send',
  group: 'Work',
  order: 40,
  summary: 'send the agent a message',
  about: `The message is on disk when this returns, and is never lost or read twice. The agent
reads it in its own conversation as soon as its current turn is over. A message to a
session that has ended starts it again. Piped, only the message’s number is printed.

With one argument, the argument is the text, for this directory’s most recent session.`,
  arguments: [
    sessionArgument('agents', 'else this directory’s latest that has an agent'),
    { valueType: textType('TEXT'), summary: 'the message; - reads it from stdin' },
  ],
  options: [OPTIONS.file, OPTIONS.follow, OPTIONS.json],
  examples: [
    { argv: ['send', 'now add tests'], description: 'to this directory’s most recent session' },
    { argv: ['send', 'fix-auth', 'leave the schema as it is'], description: 'to a certain one' },
    { argv: ['send', 'fix-auth', '--file', 'review.md'], description: 'from a file' },
    {
      argv: ['send', 'fix-auth', '-', '--follow'],
      shell: '< review.md',
      description: 'from stdin, and see what it does',
    },
  ],
  excessHint: 'quote the text: oneshot send fix-auth "now add tests"',
  run: send,
}

async function send(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { screen, home } = context
  refuseFollowWithJson(args)
  const messageArgs = parseMessageArgs(args, word => isSessionName(home, word))
  const before = pickSession(context, messageArgs.name, takesMessages)
  const text = await readMessage(messageArgs, args, context)
  const logOffset = readTranscriptLength(home, before.id)
  const request = { key: crypto.randomUUID(), text: text.toString('base64') }
  const { session, message } = await sendWithRetry(context, before.id, request)
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson({ session, message }))
  else printDelivery({ message, before, session, ahead: queuedBefore(home, session, message) }, args, context)
  if (!args.has(OPTIONS.follow)) return 0
  const log = { raw: false, colour: screen.out.isColoured, after: logOffset }
  return await followSession(context, session, { log, passStatus: true })
}

/** The codes with which a supervisor that is stopping, or has stopped, refuses. */
const UNREACHABLE_CODES = new Set(['daemon-unreachable', 'daemon-refused'])

/** A supervisor that stops during the call may have accepted the message or not: the key prevents a duplicate. */
async function sendWithRetry(
  context: CommandContext,
  id: SessionId,
  request: SendRequest,
): Promise<{ session: SessionView; message: MessageView }> {
  const client = await ensureDaemon(context)
  try {
    return await client.send(id, request)
  } catch (cause) {
    if (!(cause instanceof Refusal) || !UNREACHABLE_CODES.has(cause.code)) throw cause
    const next = await ensureDaemon(context)
    return await next.send(id, request)
  }
}

function queuedBefore(home: Home, session: SessionView, message: MessageView): MessageView[] {
  if (message.state !== 'accepted') return []
  return readMessages(home, session.id).filter(({ number, state }) => state === 'accepted' && number < message.number)
}

function printDelivery(sent: SentMessage, args: ParsedArgs, { screen }: CommandContext): void {
  const { out, err, isQuiet } = screen
  if (args.has(OPTIONS.follow)) {
    if (!isQuiet) err.printLine(`${deliveryNotice(sent, Date.now())}  (Ctrl-C leaves it running)`)
  } else out.printLine(isQuiet || !out.isTerminal ? String(sent.message.number) : deliveryNotice(sent, Date.now()))
}

/** The meaning of the words of the line. */
export interface MessageArgs {
  /** The session's name; undefined means this directory's session. */
  readonly name: string | undefined
  /** A file or `-`; undefined when the line contains the text. */
  readonly source: string | undefined
  /** The index of the text among the positional arguments. */
  readonly place: number
}

/** Separates name and text. A name alone is a forgotten text, which must not go to another session. */
export function parseMessageArgs(args: ParsedArgs, isName: (word: string) => boolean): MessageArgs {
  const { positionals } = args
  const file = args.value(OPTIONS.file)
  if (file !== undefined) {
    if (positionals.length > 1 || positionals[0] === '-')
      throw refusal('usage', 'there are two texts: an argument and --file', 'give one of them')
    return { name: positionals[0], source: file, place: -1 }
  }
  const [first, second] = positionals
  if (first === undefined) throw refusal('usage', 'send needs a text', 'oneshot send "now add tests"')
  if (second === undefined && isName(first)) throw missingText(first)
  const place = positionals.length - 1
  return { name: second === undefined ? undefined : first, source: positionals[place] === '-' ? '-' : undefined, place }
}

/** Reads the message as bytes. */
export async function readMessage(
  { source, place }: MessageArgs,
  args: ParsedArgs,
  context: CommandContext,
): Promise<Buffer> {
  const bytes =
    source === undefined
      ? argumentBytes(context, args.argvIndexes[place] as number)
      : await readText(source, { what: 'message', option: 'file' }, context)
  if (!isBlankText(bytes)) return bytes
  const origin = source === undefined ? '' : ` from ${sourceName(source)}`
  throw refusal(
    'message-empty',
    `the message${origin} is empty`,
    'say what it is to read: oneshot send "now add tests"',
  )
}

function isSessionName(home: Home, word: string): boolean {
  return [{ name: word }, { task: word }, { id: word }].some(filter => hasSession(home, filter))
}

function missingText(name: string): Refusal {
  return refusal('usage', `there is no text for ${name}`, `oneshot send ${name} "now add tests", or with --file FILE`)
}

export interface SentMessage {
  readonly message: MessageView
  /** The session before the call and after it. */
  readonly before: SessionView
  readonly session: SessionView
  /** Earlier messages that the agent has not received yet. */
  readonly ahead: readonly MessageView[]
}

/** Describes the delivery of a message in one sentence. */
export function deliveryNotice({ message, before, session, ahead }: SentMessage, now: Instant): string {
  const accepted = `message ${message.number} accepted`
  const { phase } = session
  const name = shownName(session)
  const queued = ahead.length === 0 ? null : `after ${listMessages(ahead)}`
  if (phase === 'blocked') {
    const question = toOneLine(session.reason ?? 'it waits for you')
    return `${accepted}, but ${name} is ${question} (${describeAnswer(session)})`
  }
  if (phase === 'resting' && session.until !== null) {
    const when = relativeTime(session.until, now)
    return `${accepted}; ${name} rests and continues ${when}, then it is delivered (at once: oneshot resume ${name})`
  }
  if (before.phase === 'ended') return `${accepted}; ${name} starts again and gets it ${queued ?? 'now'}`
  if (phase === 'stopping')
    return `${accepted}; it is delivered ${queued ?? `as soon as ${endingAttempt(session)} is over`}`
  return `${accepted}; it is delivered ${queued ?? 'when the current turn ends'}`
}

function endingAttempt({ attempt }: SessionView): string {
  return `attempt ${attempt}, which is ending,`
}

function listMessages(messages: readonly MessageView[]): string {
  const numbers = messages.map(({ number }) => number)
  return numbers.length === 1 ? `message ${numbers[0]}` : `messages ${numbers.join(', ')}`
}
