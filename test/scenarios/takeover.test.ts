import { describe, expect, test } from 'vitest'
import { tell, tellWithTakeover } from '../../src/testkit/memory/story.ts'
import { STORIES } from './stories.ts'

/** Looking; asking the store, which answers that another one has begun; taking away the letters of a swept attempt. */
const ASKED_OF_STORE = ['record', 'settle', 'address', 'settleDeliveries', 'postpone', 'settleHook', 'forget']
const HARMLESS = new Set(['evidence', 'request', 'read', 'watch', ...ASKED_OF_STORE])
const isHarmless = (call: string, sleptIn: string | undefined): boolean =>
  HARMLESS.has(call) || (call === 'heard' && (sleptIn === 'sweep' || sleptIn === 'watch'))

describe.each(Object.entries(STORIES))('a supervisor suspended in the story %s', (_, story) => {
  test('while another took over does nothing more when it wakes up', async () => {
    const { ending, calls } = await tell(story)
    for (let number = 1; number <= (calls[0]?.length ?? 0); number++) {
      const takeover = await tellWithTakeover(story, number)
      const sleptIn = calls[0]?.[number - 1]
      const harm = takeover.afterwards.filter(call => !isHarmless(call, sleptIn))
      expect({ harm, ...takeover.ending, troubles: [] }, `suspended in ${sleptIn}, call ${number}`).toEqual({
        harm: [],
        ...ending,
      })
    }
  })
})
