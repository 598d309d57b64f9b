/** The events with which each agent ends a successful turn. */
const TURN_END_EVENTS: Readonly<Record<string, readonly object[]>> = {
  claude: [{ type: 'result', subtype: 'success', is_error: false, num_turns: 1, result: 'I did it.' }],
  codex: [
    { type: 'turn.started' },
    { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: 'I did it.' } },
    { type: 'turn.completed', usage: {} },
  ],
  opencode: [
    { type: 'step_start', sessionID: 'ses_1', part: { type: 'step-start' } },
    { type: 'text', sessionID: 'ses_1', part: { type: 'text', text: 'I did it.' } },
    { type: 'step_finish', sessionID: 'ses_1', part: { type: 'step-finish', reason: 'stop' } },
  ],
  pi: [
    {
      type: 'agent_end',
      messages: [{ role: 'assistant', content: [{ type: 'text', text: 'I did it.' }], stopReason: 'stop' }],
    },
  ],
  gemini: [
    { type: 'message', role: 'assistant', content: 'I did it.' },
    { type: 'result', status: 'success' },
  ],
}

export const STUBBED_AGENTS = Object.keys(TURN_END_EVENTS)

/** Returns stubs of the agents' programs: each runs this sh script and then ends its turn as the real one does. */
export function stubAgents(script: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(TURN_END_EVENTS).map(([kind, words]) => [kind, `${script}\n${ending(words)}`]),
  )
}

/** A step of a plan, and whether it is done. */
export type Step = readonly [words: string, isDone: boolean]

/**
 * Returns a stub of codex that reports one plan after the other, each but the first once `go-N` is in this folder, and
 * succeeds.
 */
export function planningCodex(folder: string, plans: readonly (readonly Step[])[]): string {
  const reports = plans.map((steps, n) => {
    const items = steps.map(([text, completed]) => ({ text, completed }))
    const event = { type: 'item.updated', item: { id: 'item_1', type: 'todo_list', items } }
    return `${n === 0 ? '' : waitFor(`${folder}/go-${n}`)}\n${ending([event])}`
  })
  const begun = ending([{ type: 'thread.started', thread_id: 'thread-1' }, { type: 'turn.started' }])
  return [begun, ...reports, waitFor(`${folder}/end`), ending(TURN_END_EVENTS['codex']?.slice(1) ?? [])].join('\n')
}

function waitFor(file: string): string {
  return `until [ -e '${file}' ]; do sleep 0.02; done`
}

function ending(words: readonly object[]): string {
  return `cat <<'END'\n${words.map(word => JSON.stringify(word)).join('\n')}\nEND`
}
