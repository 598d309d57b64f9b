import type { GroundView, LandedView, RetriedView } from '../api/contract/loop-view.ts'
import type { RunRequest } from '../api/contract/requests.ts'
import type { Home } from '../world/os/home.ts'

/** What the command line needs done and may not do itself; `main.ts` plugs it in. A number is an exit code. */
export interface CliHooks {
  /** Runs the agent in this terminal, without any supervision. */
  runDirect(request: RunRequest): Promise<number>
  demo(options: { keep: boolean }): Promise<number>
  /** Looks at what a loop would find. */
  scout(wish: {
    cwd: string
    list: string | null
    env: Readonly<Record<string, string>>
    patterns?: readonly string[]
    beads?: boolean
  }): Promise<GroundView>
  /** Brings what a loop has merged into the user's checkout. */
  landLoop(home: Home, sessionId: string, how: { isSquash: boolean; isDry: boolean }): Promise<LandedView>
  /** Opens a task of a loop that does not run. */
  retryTask(home: Home, sessionId: string, task: string, options: { isFresh: boolean }): Promise<RetriedView>
}
