import fs from 'node:fs'
import path from 'node:path'
import type { HookCall } from '../../core/notify/notice.ts'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import type { Session } from '../../core/session/session-state.ts'
import { findEnvSecrets } from '../../lib/mask/env-secrets.ts'
import { maskObject } from '../../lib/mask/mask.ts'
import { Mask } from '../../lib/mask/mask.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { errorMessage } from '../../lib/errors.ts'
import type { HookRunner } from '../../ports/notifications.ts'
import { sessionFolder } from '../../state/session-folder.ts'
import type { Home } from '../../state/home.ts'
import { type ProgramResult, runProgram, describeResult } from './spawn-process-group.ts'

/** Sets the umask of the session's user, because the supervisor's is stricter. The command follows as arguments. */
const WITH_UMASK = ['/bin/sh', '-c', 'umask "$1"; shift; exec "$@"', 'sh'] as const

/** Runs hooks in the working folder and environment of their sessions. */
export function createHookRunner(
  home: Home,
  context: {
    environment: (sessionId: SessionId) => Readonly<Record<string, string>>
    /** Returns the session as JSON for programs. */
    document: (session: Session) => unknown
  },
): HookRunner {
  return {
    run: async (call, signal) => {
      const { spec } = call.session
      try {
        const sessionEnv = context.environment(spec.id)
        const mask = new Mask(findEnvSecrets(sessionEnv))
        // Hooks forward this text to others, so it holds no secrets; the session's environment has those that a hook
        // needs.
        const env = { ...sessionEnv, ...maskObject(hookVariables(call), mask) }
        const input = `${JSON.stringify(maskObject(context.document(call.session), mask))}\n`
        const cwd = fs.existsSync(spec.cwd) ? spec.cwd : '/'
        const umask = spec.umask === undefined ? [] : [...WITH_UMASK, spec.umask.toString(8)]
        const result = await runProgram([...umask, ...call.argv], { env, cwd, input, signal })
        saveOutput(home, call, result)
        return { ok: result.code === 0, reason: describeResult(result) }
      } catch (cause) {
        return { ok: false, reason: `it could not be started: ${errorMessage(cause)}` }
      }
    },
  }
}

function hookVariables({ id, outcome, reason, session }: HookCall): Record<string, string> {
  const { spec } = session
  const { exit, number: attempt } = session.attempt
  return {
    ONESHOT_HOOK: id,
    ONESHOT_EVENT: outcome,
    ONESHOT_OUTCOME: outcome,
    ONESHOT_REASON: toOneLine(reason),
    ONESHOT_EXIT_CODE: exit?.kind === 'code' ? String(exit.code) : '',
    ONESHOT_SIGNAL: exit?.kind === 'signal' ? exit.signal : '',
    ONESHOT_SESSION: spec.name,
    ONESHOT_SESSION_ID: spec.id,
    ONESHOT_TASK: spec.task,
    ONESHOT_AGENT: spec.agent,
    ONESHOT_TITLE: toOneLine(spec.title),
    ONESHOT_CWD: spec.cwd,
    ONESHOT_ATTEMPTS: String(attempt),
    ONESHOT_THREAD: session.thread.id ?? '',
  }
}

/** Writes the output beside the session's other files, which are removed together. */
function saveOutput(home: Home, { id, session }: HookCall, { output }: ProgramResult): void {
  const { root, hooks } = sessionFolder(home, session.spec.id)
  if (!fs.existsSync(root)) return
  try {
    fs.mkdirSync(hooks, { mode: 0o700, recursive: true })
    fs.writeFileSync(path.join(hooks, id), output, { mode: 0o600 })
  } catch {
    // On a full disk the result still reports how the hook ended.
  }
}
