import { expect, test } from 'vitest'
import { makeSessionView, makeEndedSessionView } from '../../../testkit/views/session-view.ts'
import { completionCandidates } from './completion-candidates.ts'

const sessions = [
  makeSessionView({ id: 'a1', task: 'fix-auth', title: 'fix\tthe login' }),
  makeEndedSessionView({ id: 'b2', task: 'docs' }),
]

function values(...words: string[]): string[] {
  return completionCandidates(words, () => sessions).map(line => line.split('\t', 1)[0] as string)
}

test('completionCandidates suggests commands by their beginning, with their summaries', () => {
  expect(completionCandidates(['st'], () => [])).toEqual([
    'stop\tstop sessions and everything they started',
    'status\tshow how a session is doing, and why',
  ])
  expect(values('')).not.toContain('__complete')
})

test('completionCandidates suggests the sessions that fit the command, with sanitised titles', () => {
  expect(completionCandidates(['stop', ''], () => sessions)).toEqual(['demo-fix-auth\tfix the login'])
  expect(values('clean', '')).toEqual(['demo-docs'])
  expect(values('status', 'demo-')).toEqual(['demo-fix-auth', 'demo-docs'])
  expect(values('wait', 'demo-docs', 'demo-f')).toEqual(['demo-fix-auth'])
  expect(values('status', 'demo-docs', '')).toEqual([])
})

test('completionCandidates suggests channels after notify test', () => {
  const channels = ['phone\tntfy', 'desk\tdesktop']
  expect(completionCandidates(['notify', 'test', ''], () => [], channels)).toEqual(channels)
  expect(completionCandidates(['notify', 'test', 'p'], () => [], channels)).toEqual(['phone\tntfy'])
  expect(values('notify', '')).toEqual(['list', 'test'])
})

test('completionCandidates suggests the options of the command and the global ones', () => {
  expect(values('log', '--')).toEqual(expect.arrayContaining(['--lines', '--since', '--color']))
  expect(values('log', '--ra')).toEqual(['--raw'])
})

test('completionCandidates suggests values of an option, after a space or an equals sign', () => {
  expect(values('run', '--agent', 'c')).toEqual(['claude', 'codex', 'command'])
  expect(values('run', '--agent=o')).toEqual(['--agent=opencode'])
  expect(values('--color', '')).toEqual(['auto', 'always', 'never'])
  expect(values('config', 'get', 'ch')).toEqual(['checkpoints', 'checkpoint-interval', 'checkpoint-push'])
  expect(values('help', 'ex')).toEqual(['exit-codes'])
})

test('completionCandidates leaves files, folders and programs to the shell', () => {
  expect(values('run', '--prompt-file', 'x')).toEqual([':files'])
  expect(values('run', '--cwd=')).toEqual([':folders'])
  expect(values('run', '--', 'py')).toEqual([':commands'])
  expect(values('run', '--', 'pytest', 'te')).toEqual([':files'])
})

test('an invalid line gets no suggestions rather than an error', () => {
  expect(values('nonsense', '--what', '')).not.toContain('nonsense')
  expect(values()).toContain('run')
})
