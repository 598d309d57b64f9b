import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { adoptPath } from './adopt-path.ts'

test('the caller’s PATH is looked through when the supervisor’s own lacks tmux or git', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-path-'))
  for (const name of ['tmux', 'git']) fs.writeFileSync(path.join(folder, name), '', { mode: 0o755 })
  const stale: NodeJS.ProcessEnv = { PATH: '/nowhere' }
  adoptPath(folder, stale)
  adoptPath(folder, stale)
  expect(stale['PATH']).toBe(`/nowhere:${folder}`)
  const whole: NodeJS.ProcessEnv = { PATH: folder }
  adoptPath('/elsewhere', whole)
  adoptPath(undefined, whole)
  expect(whole['PATH']).toBe(folder)
  fs.rmSync(folder, { recursive: true })
})
