import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Session } from '../../core/session/session-state.ts'
import { findOtherSerialLoop, findSerialLoop } from './find-serial-loop-in-checkout.ts'

function loop(cwd: string, parallel: number | null, phase = 'running'): Session {
  const spec = { name: 'ralph-prd', agent: 'ralph', cwd, argv: [JSON.stringify({ parallel })] }
  return { spec, phase: { name: phase } } as unknown as Session
}

test('findSerialLoop finds a loop by every spelling of its checkout, and in no worktree beside it', () => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'os-serial-'))
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }))
  const top = path.join(root, 'top')
  for (const folder of ['.git', 'deep/er', 'worktree']) fs.mkdirSync(path.join(top, folder), { recursive: true })
  fs.writeFileSync(path.join(top, 'worktree/.git'), 'gitdir: elsewhere')
  fs.symlinkSync(top, path.join(root, 'link'))
  fs.symlinkSync(path.join(top, 'deep'), path.join(root, 'into'))
  const sessions = [loop(path.join(top, 'deep'), null)]
  const names = [top, `${top}/`, `${top}/deep/er`, `${root}/link`, `${root}/link/deep/..`, `${root}/into/er`]
  expect(names.filter(name => findSerialLoop(name, sessions) === undefined)).toEqual([])
  expect(findSerialLoop(path.join(top, 'worktree'), sessions)).toBeUndefined()
  expect(findSerialLoop(top, [loop(top, 2), loop(top, null, 'ended')])).toBeUndefined()
  expect(findOtherSerialLoop(loop(top, 3).spec, sessions)).toBeUndefined()
  expect(findOtherSerialLoop(loop(top, null).spec, sessions)).toBe(sessions[0])
})
