import type { ExitEvidence, LaunchRequest, ThreadQuery } from '../../src/ports/agent.ts'

/** Returns a request to start a thread in `/home/dev/project` with full autonomy and no limits, plus the changes. */
export function makeLaunchRequest(changes: Partial<LaunchRequest> = {}): LaunchRequest {
  return {
    argv: ['/opt/agent'],
    mode: 'headless',
    cwd: '/home/dev/project',
    env: {},
    resume: null,
    tag: 'our-tag',
    isContinuation: false,
    autonomy: 'full',
    model: null,
    effort: null,
    budget: { usd: null, turns: null },
    ...changes,
  }
}

/** Returns a query for a thread that was started at time 0 and has no known id. */
export function makeThreadQuery(changes: Partial<ThreadQuery> = {}): ThreadQuery {
  return {
    thread: null,
    tag: 'our-tag',
    cwd: '/home/dev/project',
    env: { HOME: '/home/dev' },
    since: 0,
    isForeign: () => false,
    opening: '',
    ...changes,
  }
}

/** Returns the evidence of an exit with status 1 and no output. */
export function makeExitEvidence(changes: Partial<ExitEvidence> = {}): ExitEvidence {
  return { exit: { kind: 'code', code: 1 }, word: null, stderr: '', memory: {}, env: {}, ...changes }
}
