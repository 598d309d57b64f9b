import { type SessionStart, createSession, type ImportedState } from '../core/session/create.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Spec } from '../core/session/session-state.ts'
import type { Usage } from '../core/session/usage.ts'
import type { Decision } from '../core/session/decision.ts'
import type { Task } from '../core/session/tasks-and-tracker-issues.ts'
import { maskAndTruncate } from '../lib/mask/mask.ts'
import { toOneLine } from '../lib/text/strip-terminal-controls.ts'
import type { SessionFiles } from '../ports/runtime.ts'

/** The remains of work that began outside oneshot: its messages (the prompt is the first) and its last output. */
export interface ImportedSession {
  readonly messages: readonly string[]
  /**
   * Number of messages that the conversation contains already. A fresh conversation receives all messages in its first
   * input, so all of them count.
   */
  readonly read: number
  readonly spent: Usage
  readonly spentInThread: Usage
  readonly finalOutput: string
  readonly tasks: readonly Task[]
  readonly reason: string
  /** Restores the imported state of the working tree. Throws when something blocks the restore. */
  readonly importFiles: () => Promise<void>
}

/** A new session may start from an existing conversation, or from the remains of a session that ran elsewhere. */
export type SessionSource = Pick<SessionStart, 'thread'> & { readonly imported?: ImportedSession }

/** Stores the imported state, if any, and returns the session's first decision. */
export async function createFirstDecision(
  spec: Spec,
  { hasPrompt, thread, imported }: SessionSource & { readonly hasPrompt: boolean },
  runtime: SessionFiles,
): Promise<Decision> {
  const importedState = imported === undefined ? undefined : await storeImported(imported, spec.id, runtime)
  return createSession(spec, {
    hasPrompt,
    ...(thread !== undefined && { thread }),
    ...(importedState !== undefined && { importedState }),
  })
}

/**
 * Stores the imported messages and transcript as the session's own, and restores the files. `prepare` has stored the
 * prompt already.
 */
async function storeImported(
  { messages, read, spent, spentInThread, finalOutput, tasks, reason, importFiles }: ImportedSession,
  id: SessionId,
  runtime: SessionFiles,
): Promise<ImportedState> {
  for (const [index, text] of messages.entries())
    if (index > 0) await runtime.storeMessage(id, index + 1, Buffer.from(text))
  await importFiles()
  const transcript = finalOutput === '' ? 0 : runtime.writeTranscript(id, 0, `${finalOutput.trimEnd()}\n`)
  const summaries = messages.map(text => maskAndTruncate(toOneLine(text), 120))
  return { messages: summaries, read, spent, spentInThread, tasks, reason, transcript }
}
