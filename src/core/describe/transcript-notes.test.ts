import { expect, test } from 'vitest'
import type { Event } from '../session/events.ts'
import { transcriptNote } from './transcript-notes.ts'

test.each<[Event, string | null]>([
  [{ at: 0, type: 'session.created' }, null],
  [{ at: 0, type: 'attempt.launched', attempt: 1, resume: false }, null],
  [{ at: 0, type: 'attempt.launched', attempt: 2, resume: true }, '── attempt 2: continues its thread\n'],
  [{ at: 0, type: 'attempt.launched', attempt: 2, resume: false, errand: 'message' }, null],
  [{ at: 0, type: 'message.delivered', attempt: 1, message: 1 }, null],
  [{ at: 0, type: 'message.delivered', attempt: 2, message: 1 }, '── attempt 2: started again\n'],
  [{ at: 0, type: 'message.delivered', attempt: 2, message: 3 }, '── attempt 2: gets message 3\n'],
  [
    { at: 0, type: 'attempt.launched', attempt: 2, resume: false, errand: 'digest' },
    '── attempt 2: begins a new thread\n',
  ],
  [{ at: 0, type: 'attempt.ended', attempt: 1, exit: { kind: 'code', code: 0 } }, null],
  [{ at: 0, type: 'attempt.ended', attempt: 1, exit: { kind: 'code', code: 1 } }, '── attempt 1: exit code 1\n'],
  [{ at: 0, type: 'session.blocked', question: 'may I?' }, '── waiting for you: may I?\n'],
  [{ at: 0, type: 'session.resting', until: 2_000, reason: 'it crashed' }, '── it crashed; next attempt in 2 s\n'],
  [
    { at: 0, type: 'session.stopping', step: 'kill', reason: 'stopped by you' },
    '── stopped by you; oneshot kills it\n',
  ],
  [{ at: 0, type: 'session.ended', outcome: 'done', reason: 'exit code 0' }, '── done: exit code 0\n'],
])('the note of %j is %j', (event, note) => {
  expect(transcriptNote(event)).toBe(note)
})
