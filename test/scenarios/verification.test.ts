import { expect, test } from 'vitest'
import type { InspectedWork } from '../../src/core/policy/verify.ts'
import { NO_WORK } from '../../testkit/in-memory/work-inspector.ts'
import { startSession } from './start-session.ts'

const WORK: InspectedWork = {
  work: { commits: [], commitCount: 2, change: { files: 3, added: 9, removed: 1 }, files: ['a'], uncommitted: 1 },
  failures: [],
  checked: null,
}
const VERIFIED = { agent: 'mute', supervision: { verify: { git: true, check: null } } } as const
const WELL = { run: () => [{ say: 'all is done\n' }, { exit: 0 }] }

async function endOf(shown: InspectedWork, wishes: Parameters<typeof startSession>[2] = VERIFIED, program = WELL) {
  const { stage: simulation } = await startSession(program, undefined, wishes)
  simulation.shown = shown
  await simulation.until(() => simulation.hasEnded('s1'))
  const { phase } = simulation.session('s1') ?? {}
  return phase?.name === 'ended' ? { outcome: phase.outcome, reason: phase.reason, trouble: phase.trouble } : undefined
}

test('a verified command is done if git shows its work, and the reason names that work', async () => {
  expect(await endOf(WORK)).toEqual({
    outcome: 'done',
    reason: 'exit code 0, 2 commits, 3 files, 1 of them not committed',
    trouble: null,
  })
})

test('a verified command that exits with 0 without work has failed', async () => {
  expect(await endOf(NO_WORK)).toEqual({
    outcome: 'failed',
    reason: 'exit code 0, but it changed no file',
    trouble: 'unproven',
  })
})

test('a failure in the output or a failed check refutes a verified command', async () => {
  const complaint = await endOf({ ...WORK, failures: ['error: task 2'] })
  expect(complaint?.reason).toContain('but its output reports a failure: error: task 2; 2 commits')
  const checked = { kind: 'failed', line: 'npm test', how: 'npm test: exit code 1 after 2 s' } as const
  const refuted = await endOf(
    { work: null, failures: [], checked },
    { agent: 'mute', supervision: { verify: { git: false, check: 'npm test' } } },
  )
  expect(refuted).toEqual({
    outcome: 'failed',
    reason: expect.stringMatching(/^exit code 0, but npm test fails; oneshot verify \S+ runs it again/),
    trouble: 'unproven',
  })
})

test('the supervisor verifies neither a failed command nor one that asks for no proof', async () => {
  const failing = { run: () => [{ say: 'no\n' }, { exit: 3 }] }
  expect(await endOf(WORK, VERIFIED, failing)).toMatchObject({ outcome: 'failed', reason: 'exit code 3' })
  expect(await endOf(NO_WORK, { agent: 'mute' })).toMatchObject({ outcome: 'done', reason: 'exit code 0' })
})
