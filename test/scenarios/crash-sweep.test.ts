import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Ending, tell } from '../../src/testkit/memory/story.ts'
import { STORIES } from './stories.ts'

describe.each(Object.entries(STORIES))('a supervisor that loses its power in the story %s', (_, story) => {
  test('before or after any call to the outside is followed by one that ends the story the same', async () => {
    const { ending, calls, tellings } = await tell(story)
    expect(tellings).toBeLessThanOrEqual(1)
    const moments = (calls[0]?.length ?? 0) * 2
    for (let moment = 1; moment <= moments; moment++) {
      const disturbed = await tell(story, [moment])
      const call = `${disturbed.calls[0]?.at(-1)}, call ${Math.ceil(moment / 2)} of ${moments / 2}`
      const when = `${moment % 2 === 1 ? 'before' : 'after'} ${call}`
      expect({ crashes: disturbed.crashes, ...disturbed.ending }, when).toEqual({ crashes: 1, ...ending })
      // Only what was told and not noted in time is told once more.
      expect(disturbed.tellings, when).toBeLessThanOrEqual(2)
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
      { numRuns: 30 },
    )
  })

  test('and is missed for a while does not stop the work, and nothing it said meanwhile is lost', async () => {
    const { ending, calls } = await tell(story)
    for (let moment = 1; moment <= (calls[0]?.length ?? 0) * 2; moment++) {
      const disturbed = await tell(story, [moment], { downFor: story.endures ?? 30_000 })
      expect(essence(disturbed.ending), `moment ${moment}`).toEqual(essence(ending))
    }
  })
})

/** What does not depend on when it happened. */
function essence(ending: Ending): unknown {
  const { session, transcript, starts, alive, pending, letters, panes, records, notices, heard, ran } = ending
  const said = transcript.split('\n').filter(line => !line.startsWith('──'))
  const outcome = session.phase.name === 'ended' ? session.phase.outcome : session.phase.name
  expect(heard).toEqual(notices)
  // A question that was answered while nobody looked is not worth a notice any more.
  const told = notices.map(id => id.replace(/^\w+-/, '')).filter(kind => kind !== 'blocked')
  const rest = { starts, alive, pending, letters, panes, records, told, ran: ran.length }
  return { outcome, exit: session.exit, thread: session.thread.id, said, ...rest }
}
