import path from 'node:path'
import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import type { Duration } from '../../lib/time.ts'
import { Trouble, wordsOf } from '../../lib/trouble.ts'
import { changedCheckOf } from '../../views/changed-check.ts'
import type { Trial } from '../../views/proof.ts'
import { projectChecks } from '../../world/checks/checks.ts'
import { sessionFolder } from '../../world/os/folders.ts'
import type { Line } from '../line/line.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

/** A test suite that takes longer is not run by the way. */
const LIMIT: Duration = 15 * 60_000

const AS_SAID = 'as you said'

/** What is to be run to see whether the project is in order; or why nothing is. */
export type Choice = { readonly line: string; readonly why: string } | 'none' | 'off'

export function chooseCheck(line: Line, cwd: string, env: NodeJS.ProcessEnv, asked: string | null): Choice {
  const given = line.value(OPTIONS.checkLine)
  if (line.has(OPTIONS.noCheck)) {
    if (given === undefined) return 'off'
    throw refusal('usage', '--check and --no-check exclude each other', 'give one of them')
  }
  if (given !== undefined) return { line: given, why: AS_SAID }
  return asked === null ? (projectChecks(env).detect(cwd) ?? 'none') : { line: asked, why: 'as it was started with' }
}

/** Runs it where the session worked, with what is in your environment. */
export async function tryCheck(
  choice: Choice,
  session: SessionView,
  { home, env, screen }: Surroundings,
  given: { limit: Duration | undefined; signal: AbortSignal },
): Promise<Trial> {
  if (typeof choice === 'string') return choice
  const refused = choice.why === AS_SAID ? null : await changedCheckOf(home, session, choice.line)
  if (refused !== null) return { ...choice, ok: null, how: `${refused}; --check LINE runs it`, tail: '', log: '' }
  if (!screen.isQuiet) screen.err.say(`checking: ${choice.line} (${choice.why})`)
  const log = path.join(sessionFolder(home, session.id).root, 'checks', `${Date.now()}.log`)
  const at = { cwd: session.cwd, env: defined(env), log, limit: given.limit ?? LIMIT }
  try {
    const { ok, how, tail, isUnknown } = await projectChecks(env).run(choice, at, given.signal)
    return { ...choice, ok: isUnknown === true ? null : ok, how, tail, log }
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    return { ...choice, ok: null, how: wordsOf(cause), tail: '', log }
  }
}

function defined(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return Object.fromEntries(entries)
}
