import { expect, test } from 'vitest'
import { judgeExit } from './judge-exit.ts'
import type { Exit, LastWord, Proof } from './session.ts'

const zero: Exit = { kind: 'code', code: 0 }
const one: Exit = { kind: 'code', code: 1 }
const killed: Exit = { kind: 'signal', signal: 'SIGKILL' }
const vanished: Exit = { kind: 'vanished', evidence: 'pid 7 is gone' }
const good: LastWord = { ok: true, text: 'all of it' }
const bad: LastWord = { ok: false, text: 'no such file' }

test.each<[Proof, Exit, LastWord | null, string, string]>([
  ['exit-code', zero, null, 'done', 'exit code 0'],
  ['exit-code', one, null, 'failed', 'exit code 1'],
  ['exit-code', killed, null, 'failed', 'killed by SIGKILL'],
  ['exit-code', vanished, null, 'failed', 'gone without an exit record (pid 7 is gone)'],
  ['end-event', zero, good, 'done', 'the agent ended its turn, exit code 0'],
  ['end-event', zero, null, 'crashed', 'exit code 0 before the agent ended its turn'],
  ['end-event', one, good, 'crashed', 'exit code 1 although the agent had ended its turn'],
  ['end-event', killed, null, 'crashed', 'killed by SIGKILL before the agent ended its turn'],
  ['end-event', zero, bad, 'failed', 'the agent ended its turn with a failure: no such file'],
  [
    'end-event',
    vanished,
    good,
    'crashed',
    'gone without an exit record (pid 7 is gone) although the agent had ended its turn',
  ],
])('by %s, %j after the word %j means %s', (proof, exit, word, kind, reason) => {
  expect(judgeExit(proof, exit, word)).toEqual({ kind, reason })
})
