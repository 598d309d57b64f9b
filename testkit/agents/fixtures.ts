import type { ExitEvidence, LaunchRequest, ThreadQuery } from '../../src/ports/agent.ts'
import { testThreadId } from '../core/ids.ts'

/** Returns a request to start a thread in `/home/dev/project` with full autonomy and no limits, plus the changes. */
export function makeLaunchRequest(
  changes: Partial<Omit<LaunchRequest, 'resume' | 'tag'>> & { resume?: string | null; tag?: string } = {},
): LaunchRequest {
  const { resume = null, tag = 'our-tag', ...others } = changes
  return {
    argv: ['/opt/agent'],
    mode: 'headless',
    cwd: '/home/dev/project',
    env: {},
    resume: resume === null ? null : testThreadId(resume),
    tag: testThreadId(tag),
    isContinuation: false,
    autonomy: 'full',
    model: null,
    effort: null,
    budget: { usd: null, turns: null },
    ...others,
  }
}

/** Returns a query for a thread that was started at time 0 and has no known id. */
export function makeThreadQuery(
  changes: Partial<Omit<ThreadQuery, 'thread' | 'tag'>> & { thread?: string | null; tag?: string } = {},
): ThreadQuery {
  const { thread = null, tag = 'our-tag', ...others } = changes
  return {
    thread: thread === null ? null : testThreadId(thread),
    tag: testThreadId(tag),
    cwd: '/home/dev/project',
    env: { HOME: '/home/dev' },
    since: 0,
    isForeign: () => false,
    opening: '',
    ...others,
  }
}

/** Returns the evidence of an exit with status 1 and no output. */
export function makeExitEvidence(changes: Partial<ExitEvidence> = {}): ExitEvidence {
  return { exit: { kind: 'code', code: 1 }, word: null, stderr: '', memory: {}, env: {}, ...changes }
}
