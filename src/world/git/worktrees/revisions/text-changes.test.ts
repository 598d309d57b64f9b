import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { rawPath } from '../../../../lib/text/raw-path.ts'
import type { Worktrees } from '../../../../ports/worktrees.ts'
import { readTextChanges } from './text-changes.ts'

test('a pattern matches files from before the work, includes removed files and follows no link', async () => {
  const top = fs.mkdtempSync(path.join(os.tmpdir(), 'os-texts-'))
  onTestFinished(() => fs.rmSync(top, { recursive: true }))
  fs.mkdirSync(path.join(top, 'mk/sub'), { recursive: true })
  for (const name of ['mk/a.mk', 'mk/b.txt', 'mk/sub/c.mk']) fs.writeFileSync(path.join(top, name), name)
  fs.symlinkSync('/', path.join(top, 'mk/root'))
  const worktrees = { readBlobs: async () => new Map([['1234', 'old text']]) } as unknown as Worktrees
  const removed = { path: rawPath(Buffer.from('mk/gone.mk')), before: '100644 1234', after: null }
  const { read } = await readTextChanges(worktrees, { cwd: top, top }, [removed])
  expect(read.matching?.('mk/*.mk')).toEqual(['mk/a.mk', 'mk/gone.mk'])
  expect(read.matching?.('mk/*/c.mk')).toEqual(['mk/sub/c.mk'])
  expect(read.matching?.('mk/*/*')).toEqual(['mk/sub/c.mk'])
  expect(read('mk/gone.mk')).toBe('old text')
})
