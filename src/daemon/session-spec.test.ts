import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RunRequest } from '../api/contract/run-request.ts'
import { createSession } from '../core/session/create.ts'
import type { Session } from '../core/session/session-state.ts'
import { Refusal } from '../lib/errors.ts'
import { makeSpec } from '../../testkit/in-memory/simulation.ts'
import { knownAgents } from '../world/agents/agents.ts'
import { buildSpec } from './session-spec.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-accept-'))
  fs.writeFileSync(path.join(folder, 'tool'), '#!/bin/sh\n', { mode: 0o755 })
  fs.writeFileSync(path.join(folder, 'plain'), '', { mode: 0o644 })
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const agents = knownAgents({
  demoArgv: ['/usr/bin/env', 'demo'],
  loopArgv: ['/usr/bin/env', 'loop'],
  thin: '/thin.cjs',
  demoThreads: '/threads',
})

function request(overrides: Partial<RunRequest> = {}): RunRequest {
  return {
    agent: 'command',
    argv: ['sh', '-c', 'true'],
    cwd: folder,
    env: { PATH: '/usr/bin:/bin' },
    supervision: { maxTime: 5_000 },
    ...overrides,
  }
}

test.each(['--yolo', '-c', 'a\0b', 'a\nb', ' x', 'x'.repeat(201)])('buildSpec refuses the model %j', model => {
  expect(() => accepted({ agent: 'demo', argv: [], prompt: 'eA==', model })).toThrow('is no name')
})

function accepted(
  overrides: Partial<RunRequest> = {},
  sessions: readonly Session[] = [],
): ReturnType<typeof buildSpec> {
  const live = sessions.filter(({ phase }) => phase.name !== 'ended')
  const isNameUsed = (name: string): boolean => sessions.some(({ spec }) => spec.name === name)
  return buildSpec(request(overrides), { agents, live, isNameUsed, now: 1_000 })
}

function refused(overrides: Partial<RunRequest>, sessions: readonly Session[] = []): Refusal {
  try {
    accepted(overrides, sessions)
  } catch (cause) {
    if (cause instanceof Refusal) return cause
    throw cause
  }
  throw new Error('it was accepted')
}

const called = (name: string, phase: Partial<Session> = {}): Session => ({
  ...createSession(makeSpec({ agent: 'talker', name }), { hasPrompt: true }).session,
  ...phase,
})
const prompt = (text: string): { agent: string; argv: string[]; prompt: string } => ({
  agent: 'demo',
  argv: [],
  prompt: Buffer.from(text).toString('base64'),
})

test('buildSpec accepts a command with its resolved program, a name and a title', () => {
  const { spec, prompt } = accepted()
  expect(spec).toMatchObject({
    name: 'command-true',
    task: 'true',
    agent: 'command',
    mode: 'tty',
    proof: 'exit-code',
    cwd: folder,
    argv: [expect.stringMatching(/^\/.*\/sh$/), '-c', 'true'],
    title: 'sh -c true',
    supervision: { maxTime: 5_000 },
    createdAt: 1_000,
  })
  expect(spec.id).toMatch(/^[a-z2-9]{10}$/)
  expect(prompt).toBeNull()
})

test('buildSpec keeps a prompt byte for byte, and names the session after its first words', () => {
  const bytes = Buffer.from([...Buffer.from('\nFix the login\nplease'), 0xff, 0x00, 0x0a])
  const { spec, prompt: kept } = accepted({ ...prompt(''), prompt: bytes.toString('base64'), mode: 'tty' })
  expect(Buffer.from(kept ?? []).equals(bytes)).toBe(true)
  expect(spec).toMatchObject({ name: 'demo-fix-the-login', mode: 'tty', proof: 'end-event' })
  const inOtherFolder = { ...prompt('修复'), cwd: path.join(folder, 'My Shop') }
  fs.mkdirSync(inOtherFolder.cwd)
  expect(accepted(inOtherFolder).spec.name).toBe('demo-my-shop')
  expect(accepted(prompt(`\n \n\u001b[31m${'long '.repeat(99)}`)).spec.title).toHaveLength(120)
})

test('a generated name gets a number, and a chosen name is free again after the end of its session', () => {
  const taken = called('command-true')
  const ended = called('command-mine', { phase: { name: 'ended', at: 1, outcome: 'done', reason: '', trouble: null } })
  expect(accepted({}, [taken]).spec).toMatchObject({ name: 'command-true-2', task: 'true-2' })
  expect(accepted({ name: 'mine' }, [ended]).spec.name).toBe('command-mine')
  expect(refused({ name: 'mine' }, [called('command-mine')])).toMatchObject({
    code: 'name-taken',
    hint: expect.stringContaining('oneshot stop command-mine'),
  })
})

test('a name that a client generated gets a number among live sessions, and a refusal says where the other session is', () => {
  const live = called('command-prd')
  const ended = called('command-prd-2', { phase: { name: 'ended', at: 1, outcome: 'done', reason: '', trouble: null } })
  const overrides = { name: 'prd', isNameMadeUp: true } as const
  expect(accepted(overrides, [ended]).spec.name).toBe('command-prd')
  expect(accepted(overrides, [live, ended]).spec).toMatchObject({ name: 'command-prd-2', task: 'prd-2' })
  expect(refused({ name: 'prd' }, [live]).message).toContain(` in ${live.spec.cwd}`)
})

test('one list has one loop, and one checkout has one serial loop', () => {
  const loop = (list: string | null, overrides: Partial<RunRequest> = {}): Partial<RunRequest> => ({
    ...prompt('work'),
    agent: 'ralph',
    argv: [JSON.stringify({ list })],
    ...overrides,
  })
  const first = called('ralph-l1', {})
  const other = (list: string | null, phase: Partial<Session> = {}): Session => ({
    ...first,
    spec: { ...first.spec, agent: 'build', cwd: folder, argv: ['node', JSON.stringify({ list })] },
    ...phase,
  })
  expect(refused(loop('PRD.md'), [other('PRD.md')])).toMatchObject({
    code: 'session-alive',
    message: 'ralph-l1 works on PRD.md here',
    hint: 'oneshot ralph status ralph-l1, or oneshot stop ralph-l1',
  })
  expect(refused(loop(null), [other(null)]).message).toBe('ralph-l1 works on the issues of beads here')
  const ended = { name: 'ended', at: 1, outcome: 'stopped', reason: '', trouble: null } as const
  expect(accepted(loop('PRD.md'), [other('PRD.md', { phase: ended })]).spec.agent).toBe('ralph')
  for (const beside of [other('TODO.md'), other(null)]) {
    expect(refused(loop('PRD.md'), [beside])).toMatchObject({
      code: 'session-alive',
      message: 'ralph-l1 works in this checkout, one task after the other',
      hint: 'wait for it: oneshot wait ralph-l1; or stop it: oneshot stop ralph-l1; or work in worktrees: --parallel',
    })
    const apart = loop('PRD.md', { argv: [JSON.stringify({ list: 'PRD.md', parallel: 2 })] })
    expect(accepted(apart, [beside]).spec.agent).toBe('ralph')
  }
})

test.each<[string, Partial<RunRequest>, string, RegExp]>([
  ['a name with capitals', { name: 'Fix Auth' }, 'name-invalid', /--name fix-auth/],
  ['an unknown agent', { agent: 'cluade' }, 'agent-unknown', /did you mean claude/],
  ['a missing folder', { cwd: '/nowhere/at/all' }, 'cwd-missing', /--cwd/],
  ['a missing program', { argv: ['no-such-program'] }, 'program-missing', /install/],
  ['a path to nothing', { argv: ['./nothing'] }, 'program-missing', /path/],
  ['a file that is no program', { argv: ['./plain'] }, 'program-missing', /chmod/],
  ['an empty prompt', prompt(' \n\t'), 'prompt-empty', /oneshot run/],
  ['no program', { argv: [] }, 'usage', /oneshot run --/],
  ['an argument with a NUL', { argv: ['sh', 'a\0b'] }, 'argument-invalid', /file/],
])('buildSpec refuses %s with a hint', (_, overrides, code, hint) => {
  const refusal = refused(overrides)
  expect(refusal.code).toBe(code)
  expect(refusal.hint).toMatch(hint)
})

test('buildSpec finds a program beside the work, and in the caller’s PATH', () => {
  expect(accepted({ argv: ['./tool'] }).spec.argv).toEqual([path.join(folder, 'tool')])
  expect(accepted({ argv: ['tool'], env: { PATH: `/bin:${folder}` } }).spec.argv).toEqual([path.join(folder, 'tool')])
  expect(refused({ argv: ['tool'], env: { PATH: '/bin' } }).code).toBe('program-missing')
})

test('session ids are unique', () => {
  const ids = Array.from({ length: 500 }, () => accepted().spec.id)
  expect(new Set(ids).size).toBe(500)
})
