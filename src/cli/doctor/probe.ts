import { oneLine } from '../../lib/terminal-text.ts'
import type { Duration } from '../../lib/time.ts'
import { run } from '../../world/os/run.ts'

/** Some agents take seconds to tell their version; longer means that they wait for something. */
const PATIENCE: Duration = 5_000

/** The first line a program answers with; empty when it cannot be started or says nothing. */
export async function probe(program: string, option: string, env: NodeJS.ProcessEnv): Promise<string> {
  try {
    const { stdout, stderr } = await run(program, [option], { env, timeout: PATIENCE })
    const said = stdout.trim() === '' ? stderr : stdout // pi 0.73.1 tells its version on stderr.
    return oneLine(said.trim().split('\n', 1)[0] as string).slice(0, 80)
  } catch {
    return '' // It cannot be started; that it is there is all we can say.
  }
}
