import type { Checkpoint } from '../../core/checkpoint.ts'
import { create } from '../../core/create.ts'
import type { Session, Spec } from '../../core/session.ts'
import type { Material } from '../../views/pages/material.ts'
import { viewOf } from '../../views/session-view.ts'
import { homeAt } from '../../world/os/home.ts'
import { specOf } from '../memory/stage.ts'

/** Ten o'clock, and so many seconds. */
export const at = (seconds: number): number => Date.UTC(2026, 10, 15, 10) + seconds * 1_000

/** An agent's session to write pages about. */
export function aSession(traits: Partial<Session> = {}, wishes: Partial<Spec> = {}): Session {
  const spec: Spec = {
    ...specOf({ agent: 'talker', id: 'k3v9x2m4qa', task: 'fix-auth', createdAt: at(0) }),
    name: 'claude-fix-auth',
    agent: 'claude',
    title: 'fix the login',
    cwd: '/home/dev/project',
    argv: ['/usr/bin/claude'],
    ...wishes,
  }
  return { ...create(spec, { hasPrompt: spec.agent !== 'command' }).session, ...traits }
}

export function aCheckpoint(number: number, traits: Partial<Checkpoint> = {}): Checkpoint {
  return {
    number,
    commit: `${number}c0ffee0123456789abcdef0123456789abcdef0`.slice(0, 40),
    at: at(60 * number),
    trigger: 'edit',
    attempt: 1,
    head: null,
    change: { files: 2, added: 10, removed: 3 },
    leftOut: [],
    ...traits,
  }
}

/** In a home that is not there, so that nothing but the session counts. */
export function aMaterial(session: Session, traits: Partial<Material> = {}): Material {
  const view = viewOf(session, homeAt('/nowhere/oneshot'))
  return { session, view, events: [], checkpoints: [], checkpointCount: 0, lastWords: null, now: at(3_600), ...traits }
}
