import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeLoop, makeTask, LOOP_STARTED_AT } from '../../../testkit/core/loop-fixtures.ts'
import { createBoard } from '../../views/loop/board.ts'
import { makePaint } from '../terminal/colors.ts'
import { makeSessionView } from '../../../testkit/views/session-view.ts'
import { planLines } from './review-plan.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-plan-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const shown = (height: number): string[] => {
  const board = createBoard(
    makeLoop([makeTask(1, { name: 'open' })]),
    makeSessionView({ cwd: folder }),
    LOOP_STARTED_AT,
  )
  return planLines(board, { paint: makePaint(false), width: 40, height })
}

it('planLines shows the text of the plan, cut to the screen', () => {
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

it('planLines shows the titles if the file is missing', () => {
  expect(shown(24)).toContain('  1  make part 1')
})
