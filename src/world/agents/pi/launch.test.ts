import fs from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { testThreadId } from '../../../../testkit/core/ids.ts'
import type { LaunchRequest } from '../../../ports/agent.ts'
import { makeLaunchRequest } from '../../../../testkit/agents/fixtures.ts'
import { put, tempFolder } from '../../../../testkit/agents/temp-folder.ts'
import { planLaunch } from './pi.ts'

const thin = path.join(import.meta.dirname, 'drop-updates.cjs')
let root: string
let cwd: string
let program: string
beforeEach(() => {
  root = tempFolder()
  cwd = path.join(root, 'a project')
  program = installed('@mariozechner/pi-coding-agent', '#!/usr/bin/env node\n')
  for (const folder of [cwd, path.join(root, 'bin')]) fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(root, 'bin', 'node'), '', { mode: 0o755 })
})

test('a thread begins in a file that oneshot names, among those of pi', () => {
  const file = path.join(usual(), 'our-tag.jsonl')
  expect(planLaunch(request(), thin)).toEqual({
    argv: [path.join(root, 'bin/node'), '--require', thin, program, '-p', '--mode', 'json', '--session', file],
    env: {},
    stdin: 'text',
  })
})

test("the caller's arguments follow ours", () => {
  const { argv } = planLaunch(
    request({ argv: [program, '--verbose'], model: 'a/b', effort: 'high', autonomy: 'edits' }),
    thin,
  )
  expect(argv.slice(-7)).toEqual([
    '--model',
    'a/b',
    '--thinking',
    'high',
    '--tools',
    'read,edit,write,grep,find,ls',
    '--verbose',
  ])
})

test('a thread resumes by its file, also one that pi named itself', () => {
  const ours = thread('our-tag.jsonl', 'mine', cwd)
  const other = thread('2026_other.jsonl', 'other', cwd)
  expect(sessionOf({ resume: testThreadId('mine') })).toBe(ours)
  expect(sessionOf({ resume: testThreadId('other'), tag: testThreadId('another-tag') })).toBe(other)
})

test('planLaunch passes a missing or foreign thread by its id, so that pi reports the loss', () => {
  thread('2026_other.jsonl', 'other', path.join(root, 'another project'))
  expect(sessionOf({ resume: testThreadId('gone') })).toBe('gone')
  expect(sessionOf({ resume: testThreadId('other') })).toBe('other')
})

test('planLaunch resolves a linked working directory, as pi does', () => {
  fs.symlinkSync(cwd, path.join(root, 'link'))
  expect(sessionOf({ cwd: path.join(root, 'link') })).toBe(path.join(usual(), 'our-tag.jsonl'))
})

test('the thread folder follows the environment and the settings of pi', () => {
  const env = { ...request().env, PI_CODING_AGENT_DIR: path.join(root, 'agent') }
  const usualName = path.basename(usual())
  expect(sessionOf({ env })).toBe(path.join(root, 'agent/sessions', usualName, 'our-tag.jsonl'))
  put(path.join(root, 'agent/settings.json'), '{"sessionDir":"~/threads"}')
  expect(sessionOf({ env })).toBe(path.join(root, 'home/threads/our-tag.jsonl'))
  put(path.join(cwd, '.pi/settings.json'), '{"sessionDir":"threads"}')
  expect(sessionOf({ env })).toBe(path.join(cwd, 'threads/our-tag.jsonl'))
  expect(sessionOf({ env: { ...env, PI_CODING_AGENT_SESSION_DIR: root } })).toBe(path.join(root, 'our-tag.jsonl'))
})

test("planLaunch filters the output of pi's Node script only; it starts any other program as it is", () => {
  const starts = (other: string, env = request().env, preload = thin): boolean =>
    planLaunch(request({ argv: [other], env }), preload).argv[0] === other
  expect(starts(program)).toBe(false)
  expect(starts(installed('@earendil-works/pi-coding-agent', `#!${root}/bin/node\n`))).toBe(false)
  expect(starts(installed('@else/pi', '#!/usr/bin/env node\n')), 'of another package').toBe(true)
  expect(starts(installed('@shell/pi-coding-agent', '#!/bin/sh\n')), 'a wrapper').toBe(true)
  expect(starts(installed('@binary/pi-coding-agent', '\u007fELF')), 'a binary').toBe(true)
  expect(starts(program, { HOME: root, PATH: '/nowhere' }), 'without Node').toBe(true)
  expect(starts(program, request().env, path.join(root, 'gone.cjs')), 'without the preload').toBe(true)
  expect(starts(path.join(root, 'gone')), 'not there').toBe(true)
})

/** Installs a package and returns the link that npm makes to its program. */
function installed(name: string, beginning: string): string {
  const folder = path.join(root, 'node_modules', name)
  fs.mkdirSync(path.join(folder, 'dist/bundle'), { recursive: true })
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name }))
  fs.writeFileSync(path.join(folder, 'dist/bundle/cli.js'), beginning, { mode: 0o755 })
  const link = path.join(root, name.replace('/', '-'))
  fs.symlinkSync(path.join(folder, 'dist/bundle/cli.js'), link)
  return link
}

function usual(): string {
  return path.join(root, 'home/.pi/agent/sessions', `--${cwd.slice(1).replaceAll('/', '-')}--`)
}

function thread(name: string, id: string, begunIn: string): string {
  return put(path.join(usual(), name), `${JSON.stringify({ type: 'session', version: 3, id, cwd: begunIn })}\n`)
}

function sessionOf(changes: Partial<LaunchRequest>): string | undefined {
  const { argv } = planLaunch(request(changes), thin)
  return argv[argv.indexOf('--session') + 1]
}

function request(changes: Partial<LaunchRequest> = {}): LaunchRequest {
  const env = { HOME: path.join(root, 'home'), PATH: path.join(root, 'bin') }
  return makeLaunchRequest({ argv: [program], cwd, env, ...changes })
}
