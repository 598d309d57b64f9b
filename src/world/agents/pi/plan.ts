import type { LaunchPlan, LaunchRequest } from '../../../ports/agent.ts'
import { findFile } from './find.ts'
import { threadFile } from './folder.ts'
import { startOf } from './start.ts'

/** Everything but commands: pi asks nobody before it uses a tool, so that what it may not do must not be there. */
const TOOLS_TO_EDIT = 'read,edit,write,grep,find,ls'

export function plan(request: LaunchRequest, thin: string): LaunchPlan {
  const { argv, autonomy, model, effort } = request
  const [program = 'pi', ...own] = argv
  return {
    argv: [
      ...startOf(program, request, thin),
      '-p',
      '--mode',
      'json',
      '--session',
      sessionFor(request),
      ...(model === null ? [] : ['--model', model]),
      ...(effort === null ? [] : ['--thinking', effort]),
      ...(autonomy === 'full' ? [] : ['--tools', TOOLS_TO_EDIT]),
      ...own,
    ],
    env: {},
    stdin: 'text',
  }
}

/**
 * The thread as a file: pi goes on with the one that is there and begins one that is not, always in this working directory.
 * A thread that is lost is asked for by its id, so that pi says so: given a file it would begin anew without a word.
 */
function sessionFor(request: LaunchRequest): string {
  const { resume, tag } = request
  if (resume === null) return threadFile(request, tag)
  return findFile(request, { tag, thread: resume }) ?? resume
}
