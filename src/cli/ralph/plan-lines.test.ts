import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { aLoop, aTask, BEGIN } from '../../testkit/core/loops.ts'
import { boardOf } from '../../views/board.ts'
import { paintWith } from '../screen/paint.ts'
import { aSession } from '../session/fixture.ts'
import { planLines } from './plan-lines.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-plan-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const shown = (height: number): string[] => {
  const board = boardOf(aLoop([aTask(1, { name: 'open' })]), aSession({ cwd: folder }), BEGIN)
  return planLines(board, { paint: paintWith(false), width: 40, height })
}

it('shows the text of the plan, cut to the screen', () => {
  const words = Array.from({ length: 20 }, (_, n) => `line ${n}`).join('\n')
  fs.writeFileSync(path.join(folder, 'PRD.md'), `# A tool\n\n- [ ] one\n  \u001b[31mwhy\n${words}\n`)
  expect(shown(12)).toEqual([
    '',
    'PRD.md: 1 task',
    '  # A tool',
    '  ',
    '  - [ ] one',
    '    why',
    '  line 0',
    '  line 1',
    '  … 18 more lines in PRD.md',
    '',
  ])
  expect(shown(Number.POSITIVE_INFINITY)).toContain('  line 19')
})

it('shows the titles where the file is gone', () => {
  expect(shown(24)).toContain('  1  make part 1')
})
