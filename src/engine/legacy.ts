import { type Beginning, create, type Heritage } from '../core/create.ts'
import type { Spec } from '../core/session.ts'
import type { Spending } from '../core/spending.ts'
import type { Step } from '../core/step.ts'
import type { Task } from '../core/task.ts'
import { cut } from '../lib/mask/cut.ts'
import { oneLine } from '../lib/terminal-text.ts'
import type { Work } from '../ports/work.ts'

/** What is left of work that was begun elsewhere: its messages, the prompt first, and what was said last. */
export interface Legacy {
  readonly messages: readonly string[]
  /** How many of them the conversation shows that the session goes on in. A fresh one is told all. */
  readonly read: number
  readonly spent: Spending
  readonly spentInThread: Spending
  readonly lastWords: string
  readonly tasks: readonly Task[]
  readonly reason: string
  /** Brings the working tree to where it was. Throws when something is in the way. */
  readonly moveIn: () => Promise<void>
}

/** What a session begins with that was there before it: a conversation, or all that is left of a session elsewhere. */
export type Inherited = Pick<Beginning, 'thread'> & { readonly legacy?: Legacy }

/** A session's first step, once what it inherits is laid down. */
export async function firstStep(
  spec: Spec,
  { hasPrompt, thread, legacy }: Inherited & { readonly hasPrompt: boolean },
  work: Work,
): Promise<Step> {
  const heritage = legacy === undefined ? undefined : await layDown(legacy, spec.id, work)
  return create(spec, {
    hasPrompt,
    ...(thread !== undefined && { thread }),
    ...(heritage !== undefined && { heritage }),
  })
}

/** Lays it down where a session's own would be, and moves in. The prompt is there already. */
async function layDown(
  { messages, read, spent, spentInThread, lastWords, tasks, reason, moveIn }: Legacy,
  id: string,
  work: Work,
): Promise<Heritage> {
  for (const [index, text] of messages.entries()) if (index > 0) await work.keep(id, index + 1, Buffer.from(text))
  await moveIn()
  const transcript = lastWords === '' ? 0 : work.write(id, 0, `${lastWords.trimEnd()}\n`)
  const gists = messages.map(text => cut(oneLine(text), 120))
  return { messages: gists, read, spent, spentInThread, tasks, reason, transcript }
}
