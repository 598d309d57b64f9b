import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Dialect, Frame, Refused, Reply } from './dialects/dialect.ts'
import type { Answer } from './script.ts'

export interface Delivery {
  readonly answer: Answer
  readonly reply: Reply
  readonly dialect: Dialect
  readonly isStreamed: boolean
  readonly response: ServerResponse
  /** The program has gone, or the server is closing. */
  readonly gone: AbortSignal
}

/** Gives an answer as its kind demands. Throws when the program goes away meanwhile. */
export async function deliver(delivery: Delivery): Promise<void> {
  const { answer, reply, dialect, response } = delivery
  if ('hang' in answer) return
  if ('status' in answer) return refuse(response, dialect.refuse(answer))
  if ('overflow' in answer) return overflow(delivery)
  if ('sseError' in answer) return breakOff(delivery, answer.sseError === true ? 'Overloaded' : answer.sseError)
  if ('stall' in answer) return stream(delivery, dialect.frames(reply), answer.stall)
  if (!('drop' in answer)) return speak(delivery)
  if (answer.drop !== true) await stream(delivery, dialect.frames(reply), answer.drop)
  response.socket?.destroy()
}

/** Answers in one piece with this body. */
export function refuse(response: ServerResponse, { status, headers, body }: Refused): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

function overflow({ answer, reply, dialect, isStreamed, response, gone }: Delivery): Promise<void> | void {
  const isInside = 'overflow' in answer && answer.overflow === 'stream' && isStreamed
  if (!isInside || dialect.overflowing === undefined) return refuse(response, dialect.overflow)
  return sendAll({ response, gone, slow: 0 }, dialect.overflowing(reply))
}

function breakOff({ reply, dialect, isStreamed, response, gone }: Delivery, message: string): Promise<void> | void {
  if (!isStreamed) return refuse(response, dialect.refuse({ status: 500, message }))
  return sendAll({ response, gone, slow: 0 }, dialect.broken(reply, message))
}

async function speak({ answer, reply, dialect, isStreamed, response, gone }: Delivery): Promise<void> {
  const slow = answer.slow ?? 0
  if (isStreamed) return sendAll({ response, gone, slow }, dialect.frames(reply))
  if (slow > 0) await pause(slow * reply.words.length, undefined, { signal: gone })
  refuse(response, { status: 200, headers: {}, body: dialect.whole(reply) })
}

/** Sends what comes before the word after these, and leaves the stream open. Without a stream nothing is sent. */
async function stream({ answer, isStreamed, response, gone }: Delivery, frames: Frame[], words: number): Promise<void> {
  if (!isStreamed) return
  const slow = answer.slow ?? 0
  const end = frames.findIndex((_, place) => frames.slice(0, place + 1).filter(it => it.isWord).length > words)
  await send({ response, gone, slow }, end === -1 ? frames : frames.slice(0, end))
}

interface Line {
  readonly response: ServerResponse
  readonly gone: AbortSignal
  readonly slow: number
}

async function sendAll(line: Line, frames: readonly Frame[]): Promise<void> {
  await send(line, frames)
  line.response.end()
}

async function send({ response, gone, slow }: Line, frames: readonly Frame[]): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  for (const { event, data, isWord } of frames) {
    if (isWord && slow > 0) await pause(slow, undefined, { signal: gone })
    const text = typeof data === 'string' ? data : JSON.stringify(data)
    await write(response, `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`)
  }
}

/** Waits until it is on its way: what is cut afterwards has then been sent. */
function write(response: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(text, cause => (cause ? reject(cause) : resolve()))
  })
}
