import { oneLine } from '../../../lib/terminal-text.ts'
import { hasCode, Trouble } from '../../../lib/trouble.ts'
import { type RunResult, run } from '../run.ts'

/** These programs ask a service that answers at once, or never. */
const PATIENCE = 20_000

export type Ask = (program: string, args: readonly string[], input?: string) => Promise<RunResult>

/** Runs a program of the system in this environment, in a language whose words we know. */
export function asker(env: NodeJS.ProcessEnv): Ask {
  return async (program, args, input) => {
    const options = { env: { ...env, LC_ALL: 'C' }, timeout: PATIENCE }
    try {
      return await run(program, args, { ...options, ...(input !== undefined && { input: Buffer.from(input) }) })
    } catch (cause) {
      if (hasCode(cause, 'ENOENT')) return { code: 127, signal: null, stdout: '', stderr: `${program} is not on PATH` }
      throw cause
    }
  }
}

/** Throws trouble in the program's own words when it fails. */
export async function must(ask: Ask, program: string, args: readonly string[], input?: string): Promise<string> {
  const result = await ask(program, args, input)
  if (result.code === 0) return result.stdout
  throw new Trouble(`calling ${program} ${args.join(' ')}`, wordsOfFailure(result))
}

export function wordsOfFailure({ code, signal, stdout, stderr }: RunResult): string {
  const said = oneLine((stderr.trim() || stdout.trim()).split('\n').slice(0, 3).join('; '))
  return said || (signal === null ? `it exited with ${code} and said nothing` : `it was ended by ${signal}`)
}
