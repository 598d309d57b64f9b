import { wordsOf } from '../../lib/trouble.ts'
import { which } from '../os/which.ts'
import { runProgram, wordsOn } from './run-program.ts'

/** Hands something to a program that is found on PATH. Throws unless it ends well. */
export async function tellProgram(
  argv: readonly string[],
  options: { env: NodeJS.ProcessEnv; input?: string; signal: AbortSignal },
): Promise<void> {
  const [name = '', ...args] = argv
  const program = which(name, options.env, '/')
  if (program === undefined) throw new Error(`${name} is not on the supervisor's PATH`)
  const { env, input = '', signal } = options
  const end = await runProgram([program, ...args], { env, input, signal }).catch(cause => {
    throw new Error(`${name} could not be started: ${wordsOf(cause)}`)
  })
  if (end.code !== 0) throw new Error(`${name}: ${wordsOn(end)}`)
}
