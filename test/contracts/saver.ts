import fs from 'node:fs'
import path from 'node:path'
import type { Checkpoint } from '../../src/core/checkpoint/checkpoint.ts'
import { GitCheckpoints } from '../../src/world/git/checkpoint/git-checkpoints.ts'
import { testSessionId } from '../../testkit/core/ids.ts'

/** The line it prints for a checkpoint. */
export type Line = `${number} ${string}`

const lineFor = ({ number, commit }: Checkpoint): Line => `${number} ${commit}`

/** Changes and saves a working tree in a loop until it is killed. Prints each checkpoint. */
const [, , cwd = '', state = '', sessionId = ''] = process.argv
const checkpoints = new GitCheckpoints({ env: process.env, folderOf: id => path.join(state, id) })
const { signal } = new AbortController()
const keeping = { cwd, sessionId: testSessionId(sessionId), name: 'demo-work' }
const begun = Date.now()
for (let n = 0; ; n++) {
  for (const file of ['a.txt', `dir${n % 3}/b${n % 7}.txt`]) {
    fs.mkdirSync(path.dirname(path.join(cwd, file)), { recursive: true })
    fs.writeFileSync(path.join(cwd, file), `${begun} ${n}\n`)
  }
  const occasion = {
    trigger: 'edit',
    attempt: 1,
    at: Date.now(),
    record: `${n}`,
    isRecordNews: false,
    isVisible: n % 4 === 3,
  } as const
  const { checkpoint, isNew } = await checkpoints.save(keeping, occasion, signal)
  if (isNew) console.log(lineFor(checkpoint))
}
