import { expect, test } from 'vitest'
import { startSession } from './start-session.ts'

const HOSTILE = ['', '-rf', '--resume=x', '../../etc/passwd', 'a/b', 'a..b', '..', 'a b', 'a\u0007b', 'x'.repeat(201)]

test.each(HOSTILE)('the engine rejects the hostile thread id %j, and the work continues', async id => {
  const { stage: simulation } = await startSession({
    run: () => [{ say: `thread: t-1\nthread: ${id}\n` }, { wait: 1_000 }, { say: `thread: ${id}\ndone: all of it\n` }],
  })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({ thread: { id: 't-1' }, phase: { outcome: 'done' } })
})
