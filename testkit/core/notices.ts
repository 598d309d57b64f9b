import type { Notice } from '../../src/core/notify/notice.ts'
import { testSessionId } from './ids.ts'

/** Returns a notice of a session with this title, for tests of channels. */
export function makeFailedNotice(title: string): Notice {
  return {
    id: 'abc-1-failed',
    kind: 'failed',
    at: 1_767_312_000_000,
    session: { id: testSessionId('abc'), name: 'demo-x', agent: 'demo', title, cwd: '/', tty: null },
    outcome: 'failed',
    reason: 'exit code 3',
    exitCode: 3,
    text: 'demo-x failed: exit code 3',
    command: 'oneshot resume demo-x',
  }
}
