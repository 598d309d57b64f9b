import type { Address } from '../../core/channels.ts'
import { variablesOf } from '../../core/bulletin.ts'
import type { Driver } from './driver.ts'
import { tellProgram } from './tell-program.ts'

/** Everything is in the environment and, as JSON, on stdin: nothing of it becomes part of a command line. */
export const command: Driver<Extract<Address, { type: 'command' }>> = async ({ argv }, { document }, means) => {
  const env = { ...means.env, ...variablesOf(document) }
  await tellProgram(argv, { env, input: `${JSON.stringify(document)}\n`, signal: means.signal })
  return `run: ${argv[0]}`
}
