import { afterEach, beforeEach } from 'vitest'
import { ModelServer } from '../../../src/testkit/model/model-server.ts'
import type { Script } from '../../../src/testkit/model/script.ts'
import { AgentHouse } from './agent-house.ts'
import type { Kind } from './programs.ts'

/** A scripted model for each test, and a house in which one program is played it. Both are closed after the test. */
export interface Stage {
  readonly server: ModelServer
  readonly house: AgentHouse
  /** Plays this script to this program, in a house of its own. */
  furnish(kind: Kind, script: Script): AgentHouse
}

export function useStage(): Stage {
  let server: ModelServer | undefined
  let house: AgentHouse | undefined
  beforeEach(async () => {
    server = await ModelServer.open()
  })
  afterEach(async () => {
    await house?.close()
    await server?.close()
    house = undefined
    server = undefined
  })
  return {
    get server() {
      if (server === undefined) throw new Error('there is a server only while a test runs')
      return server
    },
    get house() {
      if (house === undefined) throw new Error('no house was furnished')
      return house
    },
    furnish(kind, script) {
      this.server.play('main', script)
      house = new AgentHouse(this.server, { kinds: [kind] })
      return house
    },
  }
}
