import path from 'node:path'
import { type Duration, type Instant, iso } from '../../../lib/time.ts'
import { namesIn } from '../disk.ts'

type Env = Readonly<Record<string, string>>

const DAY: Duration = 86_400_000

/** Where codex keeps a thread: `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`, days by its local time. */
export function rolloutOf(thread: string, env: Env): string | null {
  const sessions = sessionsIn(env)
  const days = daysIn(sessions)
  const born = bornAt(thread)
  const likely = days.filter(day => day >= dayOf(born - DAY) && day <= dayOf(born + DAY))
  for (const day of [...likely, ...days]) {
    const name = namesIn(path.join(sessions, day)).find(file => file.endsWith(`-${thread}.jsonl`))
    if (name !== undefined) return path.join(sessions, day, name)
  }
  return null
}

/** Rollouts that may have been begun since then, and some older ones. */
export function rolloutsSince(since: Instant, env: Env): string[] {
  const sessions = sessionsIn(env)
  const days = daysIn(sessions).filter(day => day >= dayOf(since - DAY))
  return days.flatMap(day =>
    namesIn(path.join(sessions, day))
      .filter(name => /^rollout-.*\.jsonl$/.test(name))
      .map(name => path.join(sessions, day, name)),
  )
}

function sessionsIn(env: Env): string {
  const home = env['CODEX_HOME'] || path.join(env['HOME'] ?? '/', '.codex')
  return path.join(home, 'sessions')
}

/** As `YYYY/MM/DD`, oldest first. */
function daysIn(sessions: string): string[] {
  const below = (folder: string): string[] =>
    namesIn(path.join(sessions, folder))
      .filter(name => /^\d+$/.test(name))
      .map(name => path.join(folder, name))
  return below('').flatMap(below).flatMap(below).sort()
}

/** Thread ids are UUIDs of version 7: they begin with the time. */
function bornAt(thread: string): Instant {
  const at = Number.parseInt(thread.replaceAll('-', '').slice(0, 12), 16)
  return Number.isNaN(at) ? 0 : at
}

function dayOf(at: Instant): string {
  return iso(Math.max(0, at)).slice(0, 10).replaceAll('-', '/')
}
