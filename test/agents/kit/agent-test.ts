import { afterEach, beforeEach } from 'vitest'
import { ModelServer } from '../../../testkit/model/model-server.ts'
import type { Script } from '../../../testkit/model/script.ts'
import { AgentTestHome } from './agent-test-home.ts'
import type { Kind } from './programs.ts'

/** A scripted model for each test, and a house in which one program is played it. Both are closed after the test. */
export interface AgentTest {
  readonly server: ModelServer
  readonly home: AgentTestHome
  /** Plays this script to this program, in a house of its own. */
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
