import { type Kind, PROGRAMS } from './programs.ts'

/** Every pinned program that is asked for by ONESHOT_AGENTS, or all of them. */
export const KINDS: readonly Kind[] = (Object.keys(PROGRAMS) as Kind[]).filter(kind => {
  const wanted = process.env['ONESHOT_AGENTS']?.split(',')
  return wanted === undefined || wanted.includes(kind)
})

/** Fewer repetitions, for a quick look. */
export const IS_QUICK = process.env['ONESHOT_AGENTS_QUICK'] === '1'

/** How oneshot is asked to run it, so that it speaks with the scripted model. */
export function runArguments(kind: Kind): string[] {
  return ['--agent', agentOf(kind), ...(agentOf(kind) === 'pi' ? ['--model', 'mock/mock-model'] : [])]
}

/** What oneshot calls it. */
function agentOf(kind: Kind): string {
  return PROGRAMS[kind].command
}
