import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Dialect, Frame, ErrorResponse, Reply } from './dialects/dialect.ts'
import type { Answer } from './script.ts'

export interface ReplyContext {
  readonly answer: Answer
  readonly reply: Reply
  readonly dialect: Dialect
  readonly isStreamed: boolean
  readonly response: ServerResponse
  /** Aborted when the program has disconnected or the server closes. */
  readonly gone: AbortSignal
}

/** Sends an answer according to its kind. Throws if the program disconnects meanwhile. */
export async function sendReply(context: ReplyContext): Promise<void> {
  const { answer, reply, dialect, response } = context
  if ('hang' in answer) return
  if ('status' in answer) return sendWhole(response, dialect.errorResponse(answer))
  if ('overflow' in answer) return sendOverflow(context)
  if ('sseError' in answer) return sendBrokenStream(context, answer.sseError === true ? 'Overloaded' : answer.sseError)
  if ('stall' in answer) return sendStart(context, dialect.frames(reply), answer.stall)
  if (!('drop' in answer)) return sendAnswer(context)
  if (answer.drop !== true) await sendStart(context, dialect.frames(reply), answer.drop)
  response.socket?.destroy()
}

/** Sends this body in one piece. */
export function sendWhole(response: ServerResponse, { status, headers, body }: ErrorResponse): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

function sendOverflow({ answer, reply, dialect, isStreamed, response, gone }: ReplyContext): Promise<void> | void {
  const isInside = 'overflow' in answer && answer.overflow === 'stream' && isStreamed
  if (!isInside || dialect.overflowing === undefined) return sendWhole(response, dialect.overflow)
  return sendFrames({ response, gone, slow: 0 }, dialect.overflowing(reply))
}

function sendBrokenStream(
  { reply, dialect, isStreamed, response, gone }: ReplyContext,
  message: string,
): Promise<void> | void {
  if (!isStreamed) return sendWhole(response, dialect.errorResponse({ status: 500, message }))
  return sendFrames({ response, gone, slow: 0 }, dialect.brokenStream(reply, message))
}

async function sendAnswer({ answer, reply, dialect, isStreamed, response, gone }: ReplyContext): Promise<void> {
  const slow = answer.slow ?? 0
  if (isStreamed) return sendFrames({ response, gone, slow }, dialect.frames(reply))
  if (slow > 0) await pause(slow * reply.words.length, undefined, { signal: gone })
  sendWhole(response, { status: 200, headers: {}, body: dialect.fullResponse(reply) })
}

/** Sends the first words of a stream and leaves it open. Sends nothing if the reply is not streamed. */
async function sendStart(
  { answer, isStreamed, response, gone }: ReplyContext,
  frames: Frame[],
  words: number,
): Promise<void> {
  if (!isStreamed) return
  const slow = answer.slow ?? 0
  const end = frames.findIndex((_, place) => frames.slice(0, place + 1).filter(it => it.isWord).length > words)
  await sendFrame({ response, gone, slow }, end === -1 ? frames : frames.slice(0, end))
}

interface ReplyStream {
  readonly response: ServerResponse
  readonly gone: AbortSignal
  readonly slow: number
}

async function sendFrames(stream: ReplyStream, frames: readonly Frame[]): Promise<void> {
  await sendFrame(stream, frames)
  stream.response.end()
}

async function sendFrame({ response, gone, slow }: ReplyStream, frames: readonly Frame[]): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  for (const { event, data, isWord } of frames) {
    if (isWord && slow > 0) await pause(slow, undefined, { signal: gone })
    const text = typeof data === 'string' ? data : JSON.stringify(data)
    await write(response, `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`)
  }
}

/** Waits until the text is sent, so that a later drop cannot lose it. */
function write(response: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(text, cause => (cause ? reject(cause) : resolve()))
  })
}
