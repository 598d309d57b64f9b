import fs from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { testThreadId } from '../../../../testkit/core/ids.ts'
import type { ThreadQuery } from '../../../ports/agent.ts'
import { makeThreadQuery } from '../../../../testkit/agents/fixtures.ts'
import { goldenPath } from '../../../../testkit/agents/golden.ts'
import { put, tempFolder } from '../../../../testkit/agents/temp-folder.ts'
import { findThread } from './find-thread.ts'
import { projectFolder } from './find-thread.ts'

const TAG = '00000000-0000-4000-8000-000000000001'

let home = ''
beforeEach(() => {
  home = tempFolder()
})

function makeQuery(changes: Partial<ThreadQuery> = {}): ThreadQuery {
  return makeThreadQuery({ tag: TAG, cwd: path.join(home, 'work'), env: { HOME: home }, ...changes })
}

function writeThread(
  content: string | Buffer,
  folder = projectFolder({ HOME: home }, path.join(home, 'work')),
  id = TAG,
): void {
  put(path.join(folder, `${id}.jsonl`), content)
}

const COMMANDS = [
  'first words',
  '/thing one two',
  '/compact',
  'after compact',
  '/usage',
  '/usr/bin/env is broken, fix it',
  '#remember this',
  '! ls',
  '  leading blanks and trailing  \n\n',
  '\ufeffbom r\r\nlines é\u2028 😀 @a.txt',
  'after clear',
]

describe.each(['2.1.197', '2.1.325'])('in a thread of %s', version => {
  const broken = ['first prompt\nsecond line', 'Go on where you left off.', 'Third']
  test.each([
    ['killed-waiting', broken],
    ['killed-in-a-tool', broken],
    ['interrupted-waiting', broken],
    ['interrupted-in-a-tool', broken],
    ['background', ['say hi']],
    ['empty-answer', ['say hi']],
    ['background-lost', ['first', 'go on']],
  ])(
    '%s: findThread returns the messages of people, and none that the program writes in their place',
    (name, messages) => {
      writeThread(fs.readFileSync(goldenPath(`claude/${version}/threads/${name}.jsonl`)))
      expect(findThread(makeQuery())).toEqual({ thread: TAG, messages, writtenAt: expect.any(Number) })
    },
  )

  test('findThread returns a command as the person typed it, or under its known name', () => {
    writeThread(fs.readFileSync(goldenPath(`claude/${version}/threads/commands.jsonl`)))
    const typed = COMMANDS.toSpliced(2, 0, ...(version === '2.1.325' ? ['/nosuch one'] : []))
    expect(findThread(makeQuery())?.messages).toEqual(typed)
  })
})

const prompt = (text: string, more = {}) =>
  `${JSON.stringify({ type: 'user', promptSource: 'sdk', message: { role: 'user', content: text }, ...more })}\n`

test('a line that a crash cut off is not yet a message', () => {
  writeThread(prompt('one') + prompt('two').slice(0, -8))
  expect(findThread(makeQuery())?.messages).toEqual(['one'])
  writeThread('{"type":"queue-operation","content":"one"}\n{"parentUuid":null,"type":"us')
  expect(findThread(makeQuery())).toEqual({ thread: TAG, messages: [], writtenAt: expect.any(Number) })
  writeThread('')
  expect(findThread(makeQuery())).toEqual({ thread: TAG, messages: [], writtenAt: expect.any(Number) })
})

test('a line without a newline counts once it is complete', () => {
  writeThread(prompt('one').trimEnd())
  expect(findThread(makeQuery())?.messages).toEqual(['one'])
})

test('text in blocks counts, and the same line twice counts once', () => {
  const blocks = [
    { type: 'text', text: 'a' },
    { type: 'image', source: {} },
    { type: 'text', text: 'b "type":"tool_result"' },
  ]
  writeThread(
    prompt('x', { uuid: '1', message: { content: blocks } }).repeat(2) + prompt('[Request interrupted by user]'),
  )
  expect(findThread(makeQuery())?.messages).toEqual(['a\nb "type":"tool_result"', '[Request interrupted by user]'])
})

test('findThread finds a thread in the folder where its program put it', () => {
  expect(findThread(makeQuery())).toBeNull()
  writeThread(prompt('elsewhere'), path.join(home, '.claude/projects/-another-place'))
  expect(findThread(makeQuery())?.messages).toEqual(['elsewhere'])
  writeThread(prompt('here'))
  expect(findThread(makeQuery())?.messages).toEqual(['here'])
  const own = { HOME: home, CLAUDE_CONFIG_DIR: path.join(home, 'conf') }
  expect(findThread(makeQuery({ env: own }))).toBeNull()
  writeThread(prompt('own'), projectFolder(own, path.join(home, 'work')))
  expect(findThread(makeQuery({ env: own }))?.messages).toEqual(['own'])
})

test('findThread prefers the id that the program reported to ours', () => {
  writeThread(prompt('ours'))
  expect(findThread(makeQuery({ thread: testThreadId('told') }))).toEqual({
    thread: TAG,
    messages: ['ours'],
    writtenAt: expect.any(Number),
  })
  writeThread(prompt('theirs'), undefined, 'told')
  expect(findThread(makeQuery({ thread: testThreadId('told') }))).toEqual({
    thread: 'told',
    messages: ['theirs'],
    writtenAt: expect.any(Number),
  })
})

test.each([
  ['/srv/a.b_c d', '-srv-a-b-c-d'],
  ['/srv/ünï/çödé-日本', '-srv--n----d----'],
  ['/srv/x+y@z~(1)', '-srv-x-y-z--1-'],
  ['/srv/.hidden/dir', '-srv--hidden-dir'],
  ['/srv/😀', '-srv---'],
  ['/srv/UPPER/lower', '-srv-UPPER-lower'],
])('the folder of %s is %s', (cwd, name) => {
  expect(projectFolder({ CLAUDE_CONFIG_DIR: '/c' }, cwd)).toBe(`/c/projects/${name}`)
})

test('projectFolder cuts a long name and adds a checksum', () => {
  const cwd = `/tmp/${'long'.repeat(60)}/deep`
  const name = `-tmp-${'long'.repeat(60)}`.slice(0, 200)
  expect(projectFolder({ CLAUDE_CONFIG_DIR: '/c' }, cwd)).toBe(`/c/projects/${name}-ywbtfg`)
})

test('projectFolder resolves symbolic links', () => {
  fs.mkdirSync(path.join(home, 'work'))
  fs.symlinkSync('work', path.join(home, 'link'))
  writeThread(prompt('one'))
  expect(findThread(makeQuery({ cwd: path.join(home, 'link') }))?.messages).toEqual(['one'])
})
