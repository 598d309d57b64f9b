import { afterEach, beforeEach } from 'vitest'
import { ModelServer } from '../../../testkit/model/model-server.ts'
import type { Script } from '../../../testkit/model/script.ts'
import { AgentTestHome } from './agent-test-home.ts'
import type { Kind } from './programs.ts'

/** A scripted model for each test, and homes in which one program talks to it. The test closes both at its end. */
export interface AgentTest {
  readonly server: ModelServer
  readonly home: AgentTestHome
  /** Opens a home of its own in which the model plays this script to this program. */
  openHome(kind: Kind, script: Script): AgentTestHome
}

export function useAgentTest(): AgentTest {
  let server: ModelServer | undefined
  let testHome: AgentTestHome | undefined
  beforeEach(async () => {
    server = await ModelServer.open()
  })
  afterEach(async () => {
    await testHome?.close()
    await server?.close()
    testHome = undefined
    server = undefined
  })
  return {
    get server() {
      if (server === undefined) throw new Error('there is a server only while a test runs')
      return server
    },
    get home() {
      if (testHome === undefined) throw new Error('no house was furnished')
      return testHome
    },
    openHome(kind, script) {
      this.server.play('main', script)
      testHome = new AgentTestHome(this.server, { kinds: [kind] })
      return testHome
    },
  }
}
