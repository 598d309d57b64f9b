import { expect, test } from 'vitest'
import { InvalidData } from '../../lib/codec.ts'
import { threadId } from './conversation.ts'

test('a thread id begins with a letter, a digit or an underscore, and can be neither an option nor a path', () => {
  for (const good of ['t', '01a1de78-2796-7f21', 'ses_1', 'a.b:c', 'x'.repeat(200)]) expect(threadId(good)).toBe(good)
  for (const bad of [
    '',
    '-t',
    '--yolo',
    '.',
    '../t',
    'a..b',
    'a/b',
    'a b',
    't\n',
    'ä',
    'x'.repeat(201),
    7,
    null,
    ['t'],
  ])
    expect(() => threadId(bad)).toThrow(InvalidData)
})
