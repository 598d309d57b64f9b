import { expect, test } from 'vitest'
import { parse } from '../line/parse.ts'
import { aSession } from '../session/fixture.ts'
import type { Surroundings } from '../surroundings.ts'
import { partsOf, readMessage } from './read-message.ts'

const sessions = [aSession({ id: 'a1', task: 'fix-auth' })]
const parts = (...argv: string[]) => partsOf(parse(['send', ...argv]), sessions)

test.each([
  [['now add tests'], { name: undefined, source: undefined, place: 0 }],
  [['fix-auth', 'now add tests'], { name: 'fix-auth', source: undefined, place: 1 }],
  [['fix-auth', 'fix-auth'], { name: 'fix-auth', source: undefined, place: 1 }],
  [['-'], { name: undefined, source: '-', place: 0 }],
  [['fix-auth', '-'], { name: 'fix-auth', source: '-', place: 1 }],
  [['--file', 'a.md'], { name: undefined, source: 'a.md', place: -1 }],
  [['fix-auth', '--file', '-'], { name: 'fix-auth', source: '-', place: -1 }],
])('in send %j name and text are told apart', (argv, expected) => {
  expect(parts(...argv)).toEqual(expected)
})

test.each([['fix-auth'], ['demo-fix-auth'], ['a1']])(
  '%s alone is a name without a text, and is sent to nobody',
  word => {
    const refused = {
      code: 'usage',
      message: `there is no text for ${word}`,
      hint: expect.stringContaining(`send ${word} "`),
    }
    expect(() => parts(word)).toThrow(expect.objectContaining(refused))
  },
)

test.each([[[]], [['fix-auth', 'text', '--file', 'a.md']], [['-', '--file', 'a.md']]])('send %j is refused', argv =>
  expect(() => parts(...argv)).toThrow(expect.objectContaining({ code: 'usage' })),
)

test('a blank message is refused before anybody is asked', async () => {
  const argv = ['send', 'fix-auth', ' \n']
  const surroundings = { argv } as unknown as Surroundings
  const line = parse(argv)
  await expect(readMessage(partsOf(line, sessions), line, surroundings)).rejects.toMatchObject({
    code: 'message-empty',
    message: 'the message is empty',
  })
})
