import type { Issue } from '../../core/tracked.ts'
import type { Place } from '../../ports/tracker.ts'
import { askBd, runBd, tellBd } from './bd.ts'
import { asList, issuesIn } from './issues.ts'

export async function showIssue(place: Place, id: string, ending: AbortSignal): Promise<Issue | null> {
  return issuesIn(asList(await askBd(place, ['show', id], ending)))[0] ?? null
}

export function closeIssue(place: Place, id: string, reason: string, ending: AbortSignal): Promise<void> {
  return tellBd(place, ['close', id, '--reason', reason, '--json'], ending)
}

/** Opens an issue again, with a reason where there is a command that takes one. */
export async function reopenIssue(place: Place, id: string, reason: string, ending: AbortSignal): Promise<void> {
  const { code, stdout } = await runBd(place, ['reopen', '--help'], ending)
  const canReopen = code === 0 && stdout.includes('bd reopen') && stdout.includes('--reason')
  const args = canReopen ? ['reopen', id, '--reason', reason] : ['update', id, '--status', 'open']
  await tellBd(place, [...args, '--json'], ending)
}
