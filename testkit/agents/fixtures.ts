import type { ExitEvidence, LaunchRequest, ThreadQuery } from '../../src/ports/agent.ts'

/** To begin a thread in `/home/dev/project` with full autonomy and no limits, but for the changes. */
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

/** A thread that was begun at the beginning of time and has not told its id. */
export function makeThreadQuery(changes: Partial<ThreadQuery> = {}): ThreadQuery {
  return {
    thread: null,
    tag: 'our-tag',
    cwd: '/home/dev/project',
    env: { HOME: '/home/dev' },
    since: 0,
    others: [],
    opening: '',
    ...changes,
  }
}

/** An exit with status 1, without a word. */
export function makeExitEvidence(changes: Partial<ExitEvidence> = {}): ExitEvidence {
  return { exit: { kind: 'code', code: 1 }, word: null, stderr: '', memory: {}, env: {}, ...changes }
}
