import { expect, test } from 'vitest'
import { anthropic } from './dialects/anthropic.ts'
import { userText } from './user-text.ts'

test.each([
  ['Say <b>hi</b>\n', ['Say <b>hi</b>\n']],
  ['<system-reminder>\nBe nice.\n</system-reminder>\n', []],
  ['<system-reminder>\nBe nice.\n</system-reminder>\n\nHello', ['Hello']],
  ['<environment_context>\n  <cwd>/x</cwd>\n</environment_context>', []],
  ['# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nBe nice.\n</INSTRUCTIONS>', []],
  ['<turn_aborted>\nThe user interrupted the previous turn.\n</turn_aborted>', []],
])('userText returns only the user’s text of %j', (text, own) => {
  expect(userText(text)).toEqual(own.map(words => ({ kind: 'user', text: words })))
})

test('a message that claude forwards in the middle of a turn counts as user text', () => {
  const text = `The user sent a new message while you were working:\nAlso\n\nthis\n\nThis is how Claude Code surfaces messages`
  const { items } = anthropic.parseRequest({ messages: [{ role: 'system', content: text }] }, '')
  expect(items).toEqual([{ kind: 'user', text: 'Also\n\nthis' }])
})

test('the notes that claude 2.1.197 adds on a resume do not count as user text', () => {
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'Continue from where you left off.' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'No response requested.' }] },
    { role: 'user', content: 'Continue from where you left off.' },
  ]
  expect(anthropic.parseRequest({ messages }, '').items).toEqual([
    { kind: 'said', text: 'No response requested.' },
    { kind: 'user', text: 'Continue from where you left off.' },
  ])
})

test('the parser separates two messages that claude has merged', () => {
  const content = ['one\n', 'two\n'].map(text => ({ type: 'text', text }))
  expect(anthropic.parseRequest({ messages: [{ role: 'user', content }] }, '').items).toEqual([
    { kind: 'user', text: 'one' },
    { kind: 'user', text: 'two\n' },
  ])
})
