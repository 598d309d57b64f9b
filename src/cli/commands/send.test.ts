import { expect, test } from 'vitest'
import { parseLine } from '../../../testkit/cli/commands.ts'
import { makeEndedSessionView, makeSessionView } from '../../../testkit/views/session-view.ts'
import type { CommandContext } from '../context.ts'
import { deliveryNotice, parseMessageArgs, readMessage } from './send.ts'
import type { MessageView, SessionView } from '../../api/contract/responses.ts'

const isName = (word: string): boolean => ['fix-auth', 'demo-fix-auth', 'a1'].includes(word)
const parts = (...argv: string[]) => parseMessageArgs(parseLine(['send', ...argv]), isName)

test.each([
  [['now add tests'], { name: undefined, source: undefined, place: 0 }],
  [['fix-auth', 'now add tests'], { name: 'fix-auth', source: undefined, place: 1 }],
  [['fix-auth', 'fix-auth'], { name: 'fix-auth', source: undefined, place: 1 }],
  [['-'], { name: undefined, source: '-', place: 0 }],
  [['fix-auth', '-'], { name: 'fix-auth', source: '-', place: 1 }],
  [['--file', 'a.md'], { name: undefined, source: 'a.md', place: -1 }],
  [['fix-auth', '--file', '-'], { name: 'fix-auth', source: '-', place: -1 }],
])('parseMessageArgs separates name and text of send %j', (argv, expected) => {
  expect(parts(...argv)).toEqual(expected)
})

test.each([['fix-auth'], ['demo-fix-auth'], ['a1']])('%s alone is a name without a text, and send refuses it', word => {
  const refused = {
    code: 'usage',
    message: `there is no text for ${word}`,
    hint: expect.stringContaining(`send ${word} "`),
  }
  expect(() => parts(word)).toThrow(expect.objectContaining(refused))
})

test.each([[[]], [['fix-auth', 'text', '--file', 'a.md']], [['-', '--file', 'a.md']]])(
  'parseMessageArgs refuses send %j',
  argv => expect(() => parts(...argv)).toThrow(expect.objectContaining({ code: 'usage' })),
)

test('readMessage refuses a blank message', async () => {
  const argv = ['send', 'fix-auth', ' \n']
  const context = { argv } as unknown as CommandContext
  const args = parseLine(argv)
  await expect(readMessage(parseMessageArgs(args, isName), args, context)).rejects.toMatchObject({
    code: 'message-empty',
    message: 'the message is empty',
  })
})

function message(number: number): MessageView {
  const at = '2026-11-15T10:00:00.000Z'
  return { number, state: 'accepted', gist: 'x', acceptedAt: at, deliveredAt: null, confirmedAt: null }
}

const of = (session: SessionView, before = session, ahead: MessageView[] = []): string =>
  deliveryNotice({ message: message(4), before, session, ahead }, Date.parse('2026-11-15T10:00:00.000Z'))

test('a message waits for the end of the current turn, and for the messages before it', () => {
  expect(of(makeSessionView())).toBe('message 4 accepted; it is delivered when the current turn ends')
  const ahead = [message(2), message(3)]
  expect(of(makeSessionView(), makeSessionView(), [message(3)])).toBe(
    'message 4 accepted; it is delivered after message 3',
  )
  expect(of(makeSessionView(), makeSessionView(), ahead)).toBe(
    'message 4 accepted; it is delivered after messages 2, 3',
  )
})

test('the notice says that an ended session starts again', () => {
  expect(of(makeSessionView(), makeEndedSessionView())).toBe(
    'message 4 accepted; demo-fix-auth starts again and gets it now',
  )
  expect(of(makeSessionView(), makeEndedSessionView(), [message(3)])).toBe(
    'message 4 accepted; demo-fix-auth starts again and gets it after message 3',
  )
})

test('the notice says that a session whose attempt is ending continues afterwards', () => {
  const stopping = makeSessionView({ phase: 'stopping', attempt: 2 })
  expect(of(stopping)).toBe('message 4 accepted; it is delivered as soon as attempt 2, which is ending, is over')
})

test('the notice says how a resting or blocked session continues', () => {
  const resting = makeSessionView({ phase: 'resting', pid: null, until: '2026-11-15T10:03:00.000Z' })
  expect(of(resting)).toBe(
    'message 4 accepted; demo-fix-auth rests and continues in 3 min, then it is delivered (at once: oneshot resume demo-fix-auth)',
  )
  const blocked = makeSessionView({ phase: 'blocked', reason: 'waiting for you: log in; codex login', pid: null })
  expect(of(blocked)).toBe(
    'message 4 accepted, but demo-fix-auth is waiting for you: log in; codex login (continue with: oneshot resume demo-fix-auth)',
  )
})
