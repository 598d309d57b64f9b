import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Scenario, type ScenarioResult, runScenario } from '../../../testkit/in-memory/scenario.ts'
import { testSize } from '../../../testkit/system/test-size.ts'
import { SCENARIOS } from '../scenarios.ts'

/** The scenarios of each file of the sweep. */
export const SWEPT = {
  restarts: [
    'a happy run',
    'a command that fails',
    'crashes and restarts',
    'restarts at once',
    'restarts at once where nobody can tell what is left',
    'a command that is started until it succeeds',
  ],
  ends: [
    'a graceful stop',
    'a stop by force',
    'giving up',
    'refused launches',
    'the time limit',
    'a limit and an outage',
  ],
  conversations: [
    'a question and its answer',
    'a conversation',
    'a conversation that is taken up at once',
    'a conversation that grows too long',
  ],
  services: ['a hook at the end', 'a plan of issues', 'work that is proven', 'work that is not there'],
} as const

/** Stops the supervisor at each call to the outside in these scenarios, and compares the end with that of a calm run. */
export function sweep(names: readonly string[]): void {
  describe.each(names)('a supervisor that loses its power in the story %s', name => {
    const scenario = SCENARIOS[name] as Scenario

    test('before or after any call to the outside has a successor that brings the story to the same end', async () => {
      const { result: ending, calls, maxRepetitions } = await runScenario(scenario)
      expect(maxRepetitions).toBeLessThanOrEqual(1)
      const moments = (calls[0]?.length ?? 0) * 2
      for (let moment = 1; moment <= moments; moment += testSize(5, 1)) {
        const disturbed = await runScenario(scenario, [moment])
        const call = `${disturbed.calls[0]?.at(-1)}, call ${Math.ceil(moment / 2)} of ${moments / 2}`
        const when = `${moment % 2 === 1 ? 'before' : 'after'} ${call}`
        expect({ crashes: disturbed.crashes, ...disturbed.result }, when).toEqual({ crashes: 1, ...ending })
        // Only what was told and not noted in time is told once more.
        expect(disturbed.maxRepetitions, when).toBeLessThanOrEqual(2)
      }
      expect(await runScenario(scenario, [moments + 1])).toMatchObject({ crashes: 0, result: ending })
    })

    test('again and again has successors that bring the story to the same end', async () => {
      const { result: ending } = await runScenario(scenario)
      const crashes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 2, maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(crashes, async moments => {
          expect((await runScenario(scenario, moments)).result).toEqual(ending)
        }),
        { numRuns: testSize(4, 30) },
      )
    })

    test('and gets a late successor does not stop the work and loses no output', async () => {
      const { result: ending, calls } = await runScenario(scenario)
      const stride = testSize(9, 1)
      for (let moment = 1; moment <= (calls[0]?.length ?? 0) * 2; moment += stride) {
        const disturbed = await runScenario(scenario, [moment], { downFor: scenario.endures ?? 30_000 })
        expect(essence(disturbed.result), `moment ${moment}`).toEqual(essence(ending))
      }
    })
  })
}

/** Returns the parts of the result that do not depend on the time. */
function essence(ending: ScenarioResult): unknown {
  const { session, transcript, starts, alive, pending, letters, panes, records, notices, heard, ran } = ending
  const said = transcript.split('\n').filter(line => !line.startsWith('──'))
  const outcome = session.phase.name === 'ended' ? session.phase.outcome : session.phase.name
  expect(heard).toEqual(notices)
  // A question that was answered while nobody looked is not worth a notice any more.
  const told = notices.map(id => id.replace(/^\w+-/, '')).filter(kind => kind !== 'blocked')
  const rest = { starts, alive, pending, letters, panes, records, told, ran: ran.length }
  return { outcome, exit: session.attempt.exit, thread: session.thread.id, said, ...rest }
}
