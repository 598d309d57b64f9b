import { describe, expect, test } from 'vitest'
import { CrashInjector } from '../../testkit/in-memory/call-interceptors.ts'
import { LOOPS, describeEnd } from './loop-scenarios.ts'

describe.each(Object.entries(LOOPS))('a loop program that dies in the story %s', (_, open) => {
  test('before or after any call to the outside leads to the same end after its restart', async () => {
    const calm = open()
    const counter = new CrashInjector()
    await calm.run([counter])
    const end = describeEnd(calm)
    for (let moment = 1; moment <= counter.calls.length * 2; moment++) {
      const injector = new CrashInjector(moment)
      const disturbed = open()
      await disturbed.run([injector])
      const when = `${moment % 2 === 1 ? 'before' : 'after'} ${injector.calls.at(-1)}, call ${Math.ceil(moment / 2)}`
      expect({ hasFailed: injector.hasFailed, end: describeEnd(disturbed) }, when).toEqual({ hasFailed: true, end })
    }
  })

  test('several times in a row leads to the same end', async () => {
    const calm = open()
    await calm.run()
    for (const moments of [
      [3, 5, 7, 11],
      [20, 1, 2, 30],
      [40, 41, 6, 9],
    ]) {
      const disturbed = open()
      await disturbed.run(moments.map(moment => new CrashInjector(moment)))
      expect(describeEnd(disturbed), moments.join()).toEqual(describeEnd(calm))
    }
  })
})
