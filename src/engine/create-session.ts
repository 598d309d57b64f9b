import { type SessionStart, createSession, type ImportedState } from '../core/session/create.ts'
import type { Spec } from '../core/session/session.ts'
import type { Usage } from '../core/session/usage.ts'
import type { Decision } from '../core/session/decision.ts'
import type { Task } from '../core/session/task.ts'
import { maskAndTruncate } from '../lib/mask/mask.ts'
import { toOneLine } from '../lib/text/terminal-text.ts'
import type { Runtime } from '../ports/runtime.ts'

/** What is left of work that was begun elsewhere: its messages, the prompt first, and what was said last. */
export interface ImportedSession {
  readonly messages: readonly string[]
  /** How many of them the conversation shows that the session goes on in. A fresh one is told all. */
  readonly read: number
  readonly spent: Usage
  readonly spentInThread: Usage
  readonly finalOutput: string
  readonly tasks: readonly Task[]
  readonly reason: string
  /** Brings the working tree to where it was. Throws when something is in the way. */
  readonly importFiles: () => Promise<void>
}

/** What a session begins with that was there before it: a conversation, or all that is left of a session elsewhere. */
export type SessionSource = Pick<SessionStart, 'thread'> & { readonly imported?: ImportedSession }

/** A session's first step, once what it inherits is laid down. */
export async function createFirstDecision(
  spec: Spec,
  { hasPrompt, thread, imported }: SessionSource & { readonly hasPrompt: boolean },
  runtime: Runtime,
): Promise<Decision> {
  const importedState = imported === undefined ? undefined : await storeImported(imported, spec.id, runtime)
  return createSession(spec, {
    hasPrompt,
    ...(thread !== undefined && { thread }),
    ...(importedState !== undefined && { importedState }),
  })
}

/** Lays it down where a session's own would be, and moves in. The prompt is there already. */
async function storeImported(
  { messages, read, spent, spentInThread, finalOutput, tasks, reason, importFiles }: ImportedSession,
  id: string,
  runtime: Runtime,
): Promise<ImportedState> {
  for (const [index, text] of messages.entries())
    if (index > 0) await runtime.storeMessage(id, index + 1, Buffer.from(text))
  await importFiles()
  const transcript = finalOutput === '' ? 0 : runtime.writeTranscript(id, 0, `${finalOutput.trimEnd()}\n`)
  const gists = messages.map(text => maskAndTruncate(toOneLine(text), 120))
  return { messages: gists, read, spent, spentInThread, tasks, reason, transcript }
}
