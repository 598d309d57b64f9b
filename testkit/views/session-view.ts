import type { SessionView } from '../../src/api/contract/responses.ts'
import { testSessionId } from '../core/ids.ts'

/** The fields of a view that a test sets. */
type ViewOverrides = Partial<Omit<SessionView, 'id' | 'parent'>> & {
  readonly id?: string
  readonly parent?: string | null
}

/** Returns a session for tests of views. */
export function makeSessionView(overrides: ViewOverrides = {}): SessionView {
  const { id = 'k3v9x2m4qa', parent = null, ...others } = overrides
  const task = others.task ?? 'fix-auth'
  return {
    name: `demo-${task}`,
    id: testSessionId(id),
    task,
    label: null,
    agent: 'demo',
    mode: 'headless',
    phase: 'running',
    outcome: null,
    trouble: null,
    reason: null,
    title: 'fix the login',
    cwd: '/home/dev/project',
    parent: parent === null ? null : testSessionId(parent),
    attempt: 1,
    restarts: 0,
    pid: 4242,
    exitCode: null,
    signal: null,
    thread: null,
    autonomy: 'full',
    model: null,
    activity: null,
    messages: { accepted: 1, confirmed: 1 },
    spent: { turns: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, costUsd: null },
    checkpoint: null,
    isSaving: false,
    checkpointTrouble: null,
    push: null,
    tasks: { open: 0, done: 0 },
    createdAt: '2026-11-15T10:00:00.000Z',
    startedAt: '2026-11-15T10:00:01.000Z',
    endedAt: null,
    lastOutputAt: null,
    until: null,
    deadline: null,
    ...others,
  }
}

export function makeEndedSessionView(overrides: ViewOverrides = {}): SessionView {
  return makeSessionView({
    phase: 'ended',
    outcome: 'done',
    trouble: null,
    reason: 'exit code 0',
    pid: null,
    exitCode: 0,
    endedAt: '2026-11-15T11:00:00.000Z',
    ...overrides,
  })
}
