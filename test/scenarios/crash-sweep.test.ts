import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Story, tell } from '../../src/testkit/memory/story.ts'
import { CRASHING, HAPPY, MUTE, STOPPED } from './stories.ts'

const STORIES: Readonly<Record<string, Story>> = { HAPPY, MUTE, CRASHING, STOPPED }

describe.each(Object.entries(STORIES))('a supervisor that loses its power in the story %s', (_, story) => {
  test('before or after any call to the outside is followed by one that ends the story the same', async () => {
    const { ending, calls } = await tell(story)
    const moments = (calls[0]?.length ?? 0) * 2
    for (let moment = 1; moment <= moments; moment++) {
      const disturbed = await tell(story, [moment])
      const when = `${moment % 2 === 1 ? 'before' : 'after'} ${disturbed.calls[0]?.at(-1)}, call ${Math.ceil(moment / 2)}`
      expect(disturbed.crashes, when).toBe(1)
      expect(disturbed.ending, when).toEqual(ending)
    }
    expect(await tell(story, [moments + 1])).toMatchObject({ crashes: 0, ending })
  })

  test('again and again still leads to the same end', async () => {
    const { ending } = await tell(story)
    const crashes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 2, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(crashes, async moments => {
        expect((await tell(story, moments)).ending).toEqual(ending)
      }),
      { numRuns: 100 },
    )
  })
})
