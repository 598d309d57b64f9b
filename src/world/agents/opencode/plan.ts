import type { LaunchPlan, LaunchRequest } from '../../../ports/agent.ts'
import { jsonIn } from '../json.ts'
import { native } from './native.ts'

export function plan(request: LaunchRequest): LaunchPlan {
  const [program = 'opencode', ...own] = request.argv
  return {
    argv: [native(program), 'run', '--format', 'json', ...wishes(request), ...own],
    // opencode 1.18.33 works in $PWD, wherever it is started; a thread resumed in another folder hangs for ever.
    env: { PWD: request.cwd, ...permissions(request) },
    stdin: 'text',
  }
}

/** By its title a thread is found whose id was never told. Once set it stays: opencode makes up none of its own. */
function wishes({ autonomy, tag, resume, model, effort }: LaunchRequest): string[] {
  return [
    ...(autonomy === 'full' ? ['--auto'] : []),
    ...(resume === null ? ['--title', tag] : ['--session', resume]),
    ...(model === null ? [] : ['--model', model]),
    ...(effort === null ? [] : ['--variant', effort]),
  ]
}

/**
 * Without `--auto` opencode edits and runs commands inside its folder, and refuses what it would have to ask for. With
 * these rules, which are added to the user's own, it has to ask for every edit and command; tools of MCP servers stay
 * as the user's configuration has them.
 */
function permissions({ autonomy, env }: LaunchRequest): Readonly<Record<string, string>> {
  if (autonomy !== 'ask') return {}
  const own = jsonIn(env['OPENCODE_PERMISSION'] ?? '{}') ?? {}
  return { OPENCODE_PERMISSION: JSON.stringify({ ...own, edit: 'ask', bash: 'ask' }) }
}
