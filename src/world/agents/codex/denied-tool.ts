import { joinTextParts } from '../shared/json.ts'
import { type JsonObject, asObject, parseObject, asString } from '../shared/json.ts'

/**
 * Whether codex's sandbox kept the last turn of a rollout from doing its work: the refusal in its own words, or null.
 *
 * codex 0.166.0 ends such a turn well, exits 0 and prints nothing of the command. Only its record shows it: an
 * `exec_command` that failed and has no event of its own was refused. In a read-only sandbox one refusal is enough;
 * where the agent may write in its folder it counts when nothing was done after it: it may have found another way.
 * Not provable: models that call tools from a script ("code mode") can keep a refusal to themselves, and a command that
 * goes on after a refused write and exits 0 looks like any other.
 */
export function findDeniedTool(rollout: string): string | null {
  const turn = lastTurn(rollout)
  const context = turn.findLast(record => record['type'] === 'turn_context')
  const sandbox = asString(asObject(asObject(context?.['payload'])['sandbox_policy'])['type'])
  if (sandbox !== 'read-only' && sandbox !== 'workspace-write') return null
  const results = toolResults(turn)
  const denied = sandbox === 'read-only' ? results.findLast(isDenied) : results.slice(-1).find(isDenied)
  return denied === undefined ? null : lastLine(denied.output)
}

interface ToolResult {
  readonly tool: string
  readonly output: string
  /** Whether codex told of it as something that was done. */
  readonly isTold: boolean
}

/** Found by its text: rollouts grow long, and quotes inside of records are escaped. */
function lastTurn(rollout: string): JsonObject[] {
  const mark = rollout.lastIndexOf('"type":"task_started"')
  const start = rollout.lastIndexOf('\n', Math.max(0, mark)) + 1
  const records: JsonObject[] = []
  for (const line of rollout.slice(start).split('\n')) {
    const record = parseObject(line)
    if (record !== null) records.push(record)
  }
  return records
}

function toolResults(turn: readonly JsonObject[]): ToolResult[] {
  const payloads = turn.map(record => asObject(record['payload']))
  const calls = new Map(payloads.filter(isToolCall).map(call => [call['call_id'], asString(call['name'])]))
  const told = new Set(
    payloads.filter(({ type }) => type === 'item_completed').map(event => asObject(event['item'])['id']),
  )
  return payloads.filter(isToolOutput).map(output => ({
    tool: calls.get(output['call_id']) ?? '',
    output: joinTextParts(output['output']),
    isTold: told.has(output['call_id']),
  }))
}

function isToolCall({ type }: JsonObject): boolean {
  return type === 'function_call' || type === 'custom_tool_call'
}

function isToolOutput({ type }: JsonObject): boolean {
  return type === 'function_call_output' || type === 'custom_tool_call_output'
}

function isDenied({ tool, output, isTold }: ToolResult): boolean {
  if (/patch rejected: /.test(output)) return true
  if (tool === 'exec_command')
    return /^Process exited with code [1-9]/m.test(output) && (!isTold || BLOCKED.test(output))
  return tool === 'exec' && BLOCKED.test(output)
}

const BLOCKED = /read-only file system/i

/** The last line is what the command itself said; before it stand codex's notes about it. */
function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? ''
}
