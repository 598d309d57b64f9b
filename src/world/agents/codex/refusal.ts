import { piecesIn } from '../content.ts'
import { type Json, json, jsonIn, text } from '../json.ts'

/**
 * Whether codex's sandbox kept the last turn of a rollout from doing its work: the refusal in its own words, or null.
 *
 * codex 0.166.0 ends such a turn well, exits 0 and prints nothing of the command. Only its record shows it: an
 * `exec_command` that failed and has no event of its own was refused. In a read-only sandbox one refusal is enough;
 * where the agent may write in its folder it counts when nothing was done after it: it may have found another way.
 * Not provable: models that call tools from a script ("code mode") can keep a refusal to themselves, and a command that
 * goes on after a refused write and exits 0 looks like any other.
 */
export function refusalIn(rollout: string): string | null {
  const turn = lastTurn(rollout)
  const context = turn.findLast(record => record['type'] === 'turn_context')
  const sandbox = text(json(json(context?.['payload'])['sandbox_policy'])['type'])
  if (sandbox !== 'read-only' && sandbox !== 'workspace-write') return null
  const results = resultsIn(turn)
  const refused = sandbox === 'read-only' ? results.findLast(isRefused) : results.slice(-1).find(isRefused)
  return refused === undefined ? null : words(refused.output)
}

interface Result {
  readonly tool: string
  readonly output: string
  /** Whether codex told of it as something that was done. */
  readonly isTold: boolean
}

/** Found by its text: rollouts grow long, and quotes inside of records are escaped. */
function lastTurn(rollout: string): Json[] {
  const mark = rollout.lastIndexOf('"type":"task_started"')
  const start = rollout.lastIndexOf('\n', Math.max(0, mark)) + 1
  const records: Json[] = []
  for (const line of rollout.slice(start).split('\n')) {
    const record = jsonIn(line)
    if (record !== null) records.push(record)
  }
  return records
}

function resultsIn(turn: readonly Json[]): Result[] {
  const payloads = turn.map(record => json(record['payload']))
  const calls = new Map(payloads.filter(isCall).map(call => [call['call_id'], text(call['name'])]))
  const told = new Set(payloads.filter(({ type }) => type === 'item_completed').map(event => json(event['item'])['id']))
  return payloads.filter(isOutput).map(output => ({
    tool: calls.get(output['call_id']) ?? '',
    output: piecesIn(output['output']),
    isTold: told.has(output['call_id']),
  }))
}

function isCall({ type }: Json): boolean {
  return type === 'function_call' || type === 'custom_tool_call'
}

function isOutput({ type }: Json): boolean {
  return type === 'function_call_output' || type === 'custom_tool_call_output'
}

function isRefused({ tool, output, isTold }: Result): boolean {
  if (/patch rejected: /.test(output)) return true
  if (tool === 'exec_command')
    return /^Process exited with code [1-9]/m.test(output) && (!isTold || BLOCKED.test(output))
  return tool === 'exec' && BLOCKED.test(output)
}

const BLOCKED = /read-only file system/i

/** The last line is what the command itself said; before it stand codex's notes about it. */
function words(output: string): string {
  return output.trim().split('\n').at(-1) ?? ''
}
