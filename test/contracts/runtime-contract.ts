import { afterEach, beforeEach, describe } from 'vitest'
import type { Mode } from '../../src/core/session/session-state.ts'
import { type RuntimeTestContext, outputOf, type RuntimeFixture } from './runtime-fixture.ts'
import { testExits } from './runtime-exit-contract.ts'
import { testLaunching } from './runtime-launch-contract.ts'
import { testProcessStats } from './runtime-stats-contract.ts'

/** Tests the promises of every runtime. */
export function testRuntime(world: string, mode: Mode, open: () => RuntimeFixture): void {
  describe(`the runtime on ${world}, ${mode}:`, () => {
    let fixture: RuntimeFixture
    beforeEach(() => {
      fixture = open()
    })
    afterEach(() => fixture.close())
    const given: RuntimeTestContext = {
      mode,
      get bench() {
        return fixture
      },
      launched: async (program, overrides = {}) => {
        const spec = await fixture.order(program, { mode, ...overrides })
        await fixture.work.launch(spec)
        return spec
      },
      running: async program => {
        const spec = await given.launched(program)
        await fixture.until('it has spoken', () => outputOf(fixture.work, spec).includes('ready'))
        return spec
      },
      ended: async (program, overrides) => {
        const spec = await given.launched(program, overrides)
        await fixture.until('it has ended', () => fixture.work.attemptState(spec).exit !== null)
        return spec
      },
    }
    testLaunching(given)
    testExits(given)
    testProcessStats(given)
  })
}
