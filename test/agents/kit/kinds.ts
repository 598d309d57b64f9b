import { type Kind, PROGRAMS } from './programs.ts'

/** The pinned programs that ONESHOT_AGENTS names, or all of them. */
export const KINDS: readonly Kind[] = (Object.keys(PROGRAMS) as Kind[]).filter(kind => {
  const wanted = process.env['ONESHOT_AGENTS']?.split(',')
  return wanted === undefined || wanted.includes(kind)
})

/** Fewer repetitions, for a quick run. */
export const IS_QUICK = process.env['ONESHOT_AGENTS_QUICK'] === '1'

/** Returns the options of `oneshot run` for this program and the scripted model. */
export function runArguments(kind: Kind): string[] {
  return ['--agent', agentOf(kind), ...(agentOf(kind) === 'pi' ? ['--model', 'mock/mock-model'] : [])]
}

/** Returns oneshot's name of the agent. */
function agentOf(kind: Kind): string {
  return PROGRAMS[kind].command
}
