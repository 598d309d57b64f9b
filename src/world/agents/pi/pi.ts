import fs from 'node:fs'
import path from 'node:path'
import type { Agent, LaunchPlan, LaunchRequest } from '../../../ports/agent.ts'
import { findThread, type PiContext, findThreadFile, ownThreadFile } from './find-thread.ts'
import { validate } from './validate-launch.ts'
import { readLine } from './parse-output.ts'
import { readPart } from '../../../os/files/file-io.ts'
import { which } from '../../../os/which.ts'
import { readJsonFile, realPath } from '../shared/tolerant-file-reads.ts'
import { asString } from '../shared/tolerant-json.ts'
import { explainByStderr } from '../shared/turn-result.ts'
import { LOGIN_REMEDY } from './failure.ts'

/** The coding agent pi. `thin` is the path of drop-updates.cjs. */
export function pi({ thin: filter }: { thin: string }): Agent {
  return {
    kind: 'pi',
    proof: 'end-event',
    defaultMode: 'headless',
    modes: ['headless'],
    // pi 0.73 waits 10 min for each answer.
    silence: 15 * 60_000,
    takesPrompt: true,
    program: 'pi',
    validate,
    planLaunch: request => planLaunch(request, filter),
    resumeCommand: (program, thread) => [program, '--session', thread],
    readLine,
    findThread,
    explainExit,
  }
}

/** All tools but commands: pi asks nobody before it uses a tool, so oneshot must remove a forbidden tool. */
const EDITING_TOOLS = 'read,edit,write,grep,find,ls'

export function planLaunch(request: LaunchRequest, filter: string): LaunchPlan {
  const { argv, autonomy, model, effort } = request
  const [program = 'pi', ...own] = argv
  return {
    argv: [
      ...startCommand(program, request, filter),
      '-p',
      '--mode',
      'json',
      '--session',
      sessionArgument(request),
      ...(model === null ? [] : ['--model', model]),
      ...(effort === null ? [] : ['--thinking', effort]),
      ...(autonomy === 'full' ? [] : ['--tools', EDITING_TOOLS]),
      ...own,
    ],
    env: {},
    stdin: 'text',
  }
}

/**
 * Names the thread by its file: pi resumes an existing file and begins a missing one, always in this working directory.
 * Names a lost thread by its id, so that pi reports the loss: with a file it would begin a new thread silently.
 */
function sessionArgument(request: LaunchRequest): string {
  const { resume, tag } = request
  if (resume === null) return ownThreadFile(request, tag)
  return findThreadFile(request, { tag, thread: resume }) ?? resume
}

/**
 * Returns the command that starts pi with the output filter (see drop-updates.cjs). It returns the plain program for a
 * compiled binary, for a wrapper, and without Node. It does not change the environment, because pi's tools inherit it.
 */
function startCommand(program: string, context: PiContext, filter: string): string[] {
  const node = fs.existsSync(filter) ? findInterpreter(program, context) : undefined
  return node === undefined ? [program] : [node, '--require', filter, program]
}

/** Returns the Node that the kernel would start for this script, or undefined when it is not pi's own script. */
function findInterpreter(program: string, { cwd, env }: PiContext): string | undefined {
  const script = realPath(program)
  if (!isPiScript(script)) return undefined
  const [line = ''] = readPart(script, 0, 256).toString('latin1').split('\n', 1)
  if (/^#!\s*\/usr\/bin\/env\s+node\s*$/.test(line)) return which('node', env, cwd)
  const interpreter = /^#!\s*(\/\S+\/node)\s*$/.exec(line)?.[1]
  return interpreter === undefined ? undefined : which(interpreter, env, cwd)
}

function isPiScript(script: string): boolean {
  const name = packageName(path.dirname(script))
  return name === 'pi-coding-agent' || name.endsWith('/pi-coding-agent')
}

/** Returns the name of the nearest package above. */
function packageName(folder: string): string {
  const manifest = readJsonFile(path.join(folder, 'package.json'))
  const parent = path.dirname(folder)
  return manifest === null && parent !== folder ? packageName(parent) : asString(manifest?.['name'])
}

/** Explains an exit of pi before it had a turn to end. */
export const explainExit = explainByStderr([
  // Without a person to ask, pi answers no and exits 0 without work: the thread belongs to another working directory.
  { sign: /Fork this session into current directory/, kind: 'thread-lost' },
  { sign: /No session found matching|Session file is not a valid/, kind: 'thread-lost' },
  {
    sign: /No API key found|No models available|No model selected|Authentication failed for/,
    kind: 'login',
    remedy: LOGIN_REMEDY,
  },
  {
    sign: /^Error: (?:Model ".*" not found|Unknown provider)/,
    kind: 'setup',
    remedy: 'pi --list-models shows what it knows',
  },
  { sign: /^Error: .*(?:Unknown option|Invalid mode| requires | cannot be combined )/, kind: 'setup' },
  {
    sign: /^Error: Failed to load extension/,
    kind: 'setup',
    remedy: 'repair the extension, or run pi without extensions: -ne',
  },
  { sign: /^Stored session working directory does not exist/, kind: 'setup' },
  // pi 0.87 on Node 20: pi needs Node 22.19 and fails at a missing export.
  {
    sign: /^SyntaxError: The requested module .* does not provide an export/,
    kind: 'setup',
    remedy: 'pi does not start with this version of Node; pi 0.87 needs 22.19 or newer',
  },
])
