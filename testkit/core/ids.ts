import { type ThreadId, threadId } from '../../src/core/session/conversation.ts'
import { type SessionId, sessionId } from '../../src/core/session/session-id-and-name.ts'

export function testSessionId(text: string): SessionId {
  return sessionId(text)
}

export function testThreadId(text: string): ThreadId {
  return threadId(text)
}

/** Returns any text as an id, as only a program without types can pass it: for hostile tests. */
export function uncheckedSessionId(text: string): SessionId {
  return text as SessionId
}

/** Returns any text as the id of a thread, as only a program without types can pass it: for hostile tests. */
export function uncheckedThreadId(text: string): ThreadId {
  return text as ThreadId
}
