import { expect, test } from 'vitest'
import { makeSessionView, makeEndedSessionView } from '../../../testkit/views/session-view.ts'
import { COMMAND_INDEX } from '../command-index.ts'
import { completionCandidates } from './completion-candidates.ts'

const sessions = [
  makeSessionView({ id: 'a1', task: 'fix-auth', title: 'fix\tthe login' }),
  makeEndedSessionView({ id: 'b2', task: 'docs' }),
]

const facts = { commands: COMMAND_INDEX, sessions: () => sessions, channels: ['phone\tntfy', 'desk\tdesktop'] }

async function values(...words: string[]): Promise<string[]> {
  return (await completionCandidates(words, facts)).map(line => line.split('\t', 1)[0] as string)
}

test('completionCandidates suggests commands by their beginning, with their summaries', async () => {
  expect(await completionCandidates(['st'], facts)).toEqual([
    'stop\tstop sessions and everything they started',
    'status\tshow how a session is doing, and why',
  ])
  expect(await values('')).not.toContain('__complete')
})

test('completionCandidates suggests the sessions that fit the command, with sanitised titles', async () => {
  expect(await completionCandidates(['stop', ''], facts)).toEqual(['demo-fix-auth\tfix the login'])
  expect(await values('clean', '')).toEqual(['demo-docs'])
  expect(await values('status', 'demo-')).toEqual(['demo-fix-auth', 'demo-docs'])
  expect(await values('wait', 'demo-docs', 'demo-f')).toEqual(['demo-fix-auth'])
  expect(await values('status', 'demo-docs', '')).toEqual([])
})

test('completionCandidates suggests channels after notify test', async () => {
  expect(await completionCandidates(['notify', 'test', ''], facts)).toEqual(facts.channels)
  expect(await completionCandidates(['notify', 'test', 'p'], facts)).toEqual(['phone\tntfy'])
  expect(await values('notify', '')).toEqual(['list', 'test'])
})

test('completionCandidates suggests the options of the command and the global ones', async () => {
  expect(await values('log', '--')).toEqual(expect.arrayContaining(['--lines', '--since', '--color']))
  expect(await values('log', '--ra')).toEqual(['--raw'])
})

test('completionCandidates suggests values of an option, after a space or an equals sign', async () => {
  expect(await values('run', '--agent', 'c')).toEqual(['claude', 'codex', 'command'])
  expect(await values('run', '--agent=o')).toEqual(['--agent=opencode'])
  expect(await values('--color', '')).toEqual(['auto', 'always', 'never'])
  expect(await values('config', 'get', 'ch')).toEqual(['checkpoints', 'checkpoint-interval', 'checkpoint-push'])
  expect(await values('help', 'ex')).toEqual(['exit-codes'])
})

test('completionCandidates suggests the actions of a command before sessions and files', async () => {
  expect(await values('ralph', '')).toEqual(['status', 'land', 'retry', ':files'])
  expect(await values('tasks', 'd')).toEqual(['done', 'doing', 'demo-fix-auth', 'demo-docs'])
})

test('completionCandidates leaves files, folders and programs to the shell', async () => {
  expect(await values('run', '--prompt-file', 'x')).toEqual([':files'])
  expect(await values('run', '--cwd=')).toEqual([':folders'])
  expect(await values('run', '--', 'py')).toEqual([':commands'])
  expect(await values('run', '--', 'pytest', 'te')).toEqual([':files'])
})

test('an invalid line gets no suggestions rather than an error', async () => {
  expect(await values('nonsense', '--what', '')).not.toContain('nonsense')
  expect(await values()).toContain('run')
})
