import path from 'node:path'
import type { SaveResult } from '../../src/ports/checkpoints.ts'
import { GitCheckpoints } from '../../src/world/git/checkpoint/git-checkpoints.ts'
import { testSessionId } from '../../testkit/core/ids.ts'

export type Made = SaveResult

/** Saves a working tree and prints the result; tests run it as another user. */
const [, , cwd = '', state = ''] = process.argv
const checkpoints = new GitCheckpoints({ env: process.env, folderOf: id => path.join(state, id) })
const occasion = {
  trigger: 'asked',
  attempt: 1,
  at: Date.now(),
  record: '',
  isRecordNews: false,
  isVisible: false,
} as const
const keeping = { cwd, sessionId: testSessionId('once'), name: 'demo-work' }
const made: Made = await checkpoints.save(keeping, occasion, new AbortController().signal)
console.log(JSON.stringify(made))
