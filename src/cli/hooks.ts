import type { RunRequest } from '../api/contract/requests.ts'

/** What the command line needs done and may not do itself; `main.ts` plugs it in. Each answers with an exit code. */
export interface CliHooks {
  /** Runs the agent in this terminal, without any supervision. */
  runDirect(request: RunRequest): Promise<number>
  demo(options: { keep: boolean }): Promise<number>
}
