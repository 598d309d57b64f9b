import fs from 'node:fs'
import path from 'node:path'
import type { HookCall } from '../../core/hooks.ts'
import type { Session } from '../../core/session.ts'
import { secretsIn } from '../../lib/mask/env-secrets.ts'
import { hideWithin } from '../../lib/mask/hide-within.ts'
import { Mask } from '../../lib/mask/mask.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { wordsOf } from '../../lib/trouble.ts'
import type { Hooks } from '../../ports/notifier.ts'
import { sessionFolder } from '../os/folders.ts'
import type { Home } from '../os/home.ts'
import { type ProgramEnd, runProgram, wordsOn } from './run-program.ts'

/** Sets the mask of whoever asked for the work, which ours is stricter than; the command comes as arguments. */
const MASKED = ['/bin/sh', '-c', 'umask "$1"; shift; exec "$@"', 'sh'] as const

/** Runs hooks where their sessions worked, with what those had in their environment. */
export function hooksFor(
  home: Home,
  given: {
    environment: (sessionId: string) => Readonly<Record<string, string>>
    /** The session as a program reads it. */
    document: (session: Session) => unknown
  },
): Hooks {
  return {
    run: async (call, signal) => {
      const { spec } = call.session
      try {
        const own = given.environment(spec.id)
        const mask = new Mask(secretsIn(own))
        // Hooks hand on what they are told; what they need of the session's secrets is in their environment.
        const env = { ...own, ...hideWithin(variablesOf(call), mask) }
        const input = `${JSON.stringify(hideWithin(given.document(call.session), mask))}\n`
        const cwd = fs.existsSync(spec.cwd) ? spec.cwd : '/'
        const umask = spec.umask === undefined ? [] : [...MASKED, spec.umask.toString(8)]
        const end = await runProgram([...umask, ...call.argv], { env, cwd, input, signal })
        keepOutput(home, call, end)
        return { ok: end.code === 0, reason: wordsOn(end) }
      } catch (cause) {
        return { ok: false, reason: `it could not be started: ${wordsOf(cause)}` }
      }
    },
  }
}

function variablesOf({ id, outcome, reason, session }: HookCall): Record<string, string> {
  const { spec, exit, attempt } = session
  return {
    ONESHOT_HOOK: id,
    ONESHOT_EVENT: outcome,
    ONESHOT_OUTCOME: outcome,
    ONESHOT_REASON: oneLine(reason),
    ONESHOT_EXIT_CODE: exit?.kind === 'code' ? String(exit.code) : '',
    ONESHOT_SIGNAL: exit?.kind === 'signal' ? exit.signal : '',
    ONESHOT_SESSION: spec.name,
    ONESHOT_SESSION_ID: spec.id,
    ONESHOT_TASK: spec.task,
    ONESHOT_AGENT: spec.agent,
    ONESHOT_TITLE: oneLine(spec.title),
    ONESHOT_CWD: spec.cwd,
    ONESHOT_ATTEMPTS: String(attempt),
    ONESHOT_THREAD: session.thread.id ?? '',
  }
}

/** Beside the session's other files, and gone with them. */
function keepOutput(home: Home, { id, session }: HookCall, { output }: ProgramEnd): void {
  const { root, hooks } = sessionFolder(home, session.spec.id)
  if (!fs.existsSync(root)) return
  try {
    fs.mkdirSync(hooks, { mode: 0o700, recursive: true })
    fs.writeFileSync(path.join(hooks, id), output, { mode: 0o600 })
  } catch {
    // A full disk: how it ended is told all the same.
  }
}
