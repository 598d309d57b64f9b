import { describe, expect, test } from 'vitest'
import { runScenario, runWithTakeover } from '../../testkit/in-memory/scenario.ts'
import { testSize } from '../../testkit/system/test-size.ts'
import { SCENARIOS } from './scenarios.ts'

/** Looking; asking the store, which answers that another one has begun; taking away the letters of a swept attempt. */
const ASKED_OF_STORE = ['record', 'settleEffect', 'route', 'settleDeliveries', 'postpone', 'settleHook', 'deleteBefore']
const HARMLESS = new Set(['attemptState', 'request', 'readOutput', 'watchOutput', ...ASKED_OF_STORE])
const isHarmless = (call: string, sleptIn: string | undefined): boolean =>
  HARMLESS.has(call) || (call === 'acknowledge' && (sleptIn === 'sweep' || sleptIn === 'watchOutput'))

describe.each(Object.entries(SCENARIOS))(
  'a supervisor that was suspended in the story %s while another took over',
  (_, scenario) => {
    test('does nothing more when it wakes up', async () => {
      const { result, calls } = await runScenario(scenario)
      const stride = testSize(4, 1)
      for (let number = 1; number <= (calls[0]?.length ?? 0); number += stride) {
        const takeover = await runWithTakeover(scenario, number)
        const sleptIn = calls[0]?.[number - 1]
        const harm = takeover.afterwards.filter(call => !isHarmless(call, sleptIn))
        expect({ harm, ...takeover.result, troubles: [] }, `suspended in ${sleptIn}, call ${number}`).toEqual({
          harm: [],
          ...result,
        })
      }
    })
  },
)
