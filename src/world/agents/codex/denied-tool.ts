import { joinTextParts } from '../shared/tolerant-json.ts'
import { type JsonObject, asObject, parseObject, asString } from '../shared/tolerant-json.ts'

/**
 * Returns the refusal with which codex's sandbox stopped the work of the last turn of a rollout, or null.
 *
 * codex 0.166.0 ends such a turn as a success, exits 0 and prints nothing about the command. Only its rollout shows it:
 * the sandbox refused an `exec_command` that failed and has no event of its own. In a read-only sandbox one refusal is
 * enough; where the agent may write in its folder, a refusal counts when no tool ran after it, because the agent may
 * have found another way. Two cases cannot be proven: models that call tools from a script ("code mode") can hide a
 * refusal, and a command that continues after a refused write and exits 0 looks like any other.
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
  /** codex reported the call as completed work. */
  readonly isReported: boolean
}

/** Finds the turn by its text: rollouts grow long, and quotes inside of records are escaped. */
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
  const reportedIds = new Set(
    payloads.filter(({ type }) => type === 'item_completed').map(event => asObject(event['item'])['id']),
  )
  return payloads.filter(isToolOutput).map(output => ({
    tool: calls.get(output['call_id']) ?? '',
    output: joinTextParts(output['output']),
    isReported: reportedIds.has(output['call_id']),
  }))
}

function isToolCall({ type }: JsonObject): boolean {
  return type === 'function_call' || type === 'custom_tool_call'
}

function isToolOutput({ type }: JsonObject): boolean {
  return type === 'function_call_output' || type === 'custom_tool_call_output'
}

function isDenied({ tool, output, isReported }: ToolResult): boolean {
  if (/patch rejected: /.test(output)) return true
  if (tool === 'exec_command')
    return /^Process exited with code [1-9]/m.test(output) && (!isReported || BLOCKED.test(output))
  return tool === 'exec' && BLOCKED.test(output)
}

const BLOCKED = /read-only file system/i

/** The last line is the command's own output; codex's notes precede it. */
function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? ''
}
