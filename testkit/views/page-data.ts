import type { Checkpoint } from '../../src/core/checkpoint/checkpoint.ts'
import { createSession } from '../../src/core/session/create.ts'
import type { Session, Spec } from '../../src/core/session/session-state.ts'
import type { PageData } from '../../src/views/project-files/page-input.ts'
import { toSessionView } from '../../src/views/session-view.ts'
import { homeAt } from '../../src/state/home.ts'
import { makeSpec, type SpecOverrides } from '../in-memory/simulation.ts'

/** Returns ten o'clock plus this many seconds. */
export const at = (seconds: number): number => Date.UTC(2026, 10, 15, 10) + seconds * 1_000

/** Returns an agent's session for pages. */
export function makeSession(overrides: Partial<Session> = {}, specOverrides: SpecOverrides = {}): Session {
  const { agent = 'claude', ...overriddenFields } = specOverrides
  const fields = {
    id: 'k3v9x2m4qa',
    task: 'fix-auth',
    createdAt: at(0),
    name: 'claude-fix-auth',
    title: 'fix the login',
    cwd: '/home/dev/project',
    argv: ['/usr/bin/claude'],
    ...overriddenFields,
  }
  const spec: Spec = { ...makeSpec({ ...fields, agent: 'talker' }), agent }
  return { ...createSession(spec, { hasPrompt: spec.agent !== 'command' }).session, ...overrides }
}

export function makeCheckpoint(number: number, overrides: Partial<Checkpoint> = {}): Checkpoint {
  return {
    number,
    commit: `${number}c0ffee0123456789abcdef0123456789abcdef0`.slice(0, 40),
    at: at(60 * number),
    trigger: 'edit',
    attempt: 1,
    head: null,
    change: { files: 2, added: 10, removed: 3 },
    leftOut: [],
    ...overrides,
  }
}

/** Returns page data with a home that does not exist, so that only the session counts. */
export function makePageData(session: Session, overrides: Partial<PageData> = {}): PageData {
  const view = toSessionView(session, homeAt('/nowhere/oneshot'))
  return {
    session,
    view,
    events: [],
    checkpoints: [],
    checkpointCount: 0,
    lastWords: null,
    now: at(3_600),
    ...overrides,
  }
}
