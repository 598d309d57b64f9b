import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from './git-trace.ts'
import { movesSince } from './reflog.ts'

test('the readers do not hang on a pipe in the place of a trace or a reflog', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-pipe-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  fs.mkdirSync(path.join(folder, 'logs'))
  const [trace, reflog] = [path.join(folder, 'trace'), path.join(folder, 'logs/HEAD')]
  execFileSync('mkfifo', [trace, reflog])
  expect(readTrace(trace)).toEqual([])
  expect(movesSince(folder, 0)).toBe(null)
})
