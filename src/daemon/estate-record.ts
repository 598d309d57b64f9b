import * as z from 'zod/mini'
import type { Spec } from '../core/session.ts'

/** An agent's own name for something; nothing that its program could take for an option. */
const WORD = z.string().check(z.regex(/^[\w][\w.:/@[\]-]{0,199}$/))

/** What was written down with a checkpoint, as far as it is needed here. Another machine wrote it: it is checked. */
const RECORD = z.object({
  session: z.object({
    name: z.string(),
    task: z.string(),
    agent: z.string(),
    argv: z.array(z.string()),
    autonomy: z.enum(['full', 'edits', 'ask']),
    model: z.nullable(WORD),
    effort: z.nullable(WORD),
  }),
  thread: z.nullable(z.string()),
  goal: z.array(z.string()),
  tasks: z.array(z.object({ id: z.string(), title: z.string(), state: z.enum(['open', 'doing', 'done']) })),
  lastWord: z.nullable(z.string()),
  state: z.string(),
  reason: z.nullable(z.string()),
})

export type Record = z.infer<typeof RECORD>

/** Null when it cannot be read. */
export function readRecord(text: string): Record | null {
  try {
    return RECORD.parse(JSON.parse(text))
  } catch {
    return null
  }
}

/** The same, as that of the session that goes on with it. */
export function renamed(text: string, { id, name, task, cwd }: Spec): string {
  const record = JSON.parse(text) as { session: object }
  return JSON.stringify({ ...record, session: { ...record.session, id, name, task, cwd } })
}
