import fs from 'node:fs'
import path from 'node:path'
import type { Agent, LaunchPlan, LaunchRequest, ExitEvidence } from '../../../ports/agent.ts'
import { findThread, findRollout } from './find-thread.ts'
import { validate } from './validate-launch.ts'
import { readLine } from './parse-output.ts'
import type { TurnResult } from '../../../core/session/attempt.ts'
import type { Autonomy } from '../../../core/session/session-state.ts'
import { createRequire } from 'node:module'
import { realPath } from '../shared/tolerant-file-reads.ts'
import type { Failure } from '../../../core/session/failure.ts'
import { restoreState } from './parser-state.ts'
import type { Instant } from '../../../lib/time.ts'
import { failedTurn, makeFailure } from '../shared/turn-result.ts'
import { classifyError } from './failure.ts'
import { findDeniedTool } from './denied-tool.ts'

/** OpenAI's codex, run as `codex exec --json`: one turn for each process. */
export const codex: Agent = {
  kind: 'codex',
  proof: 'end-event',
  defaultMode: 'headless',
  modes: ['headless'],
  // codex 0.166 writes nothing while a tool runs, and waits 5 min for each answer.
  silence: 15 * 60_000,
  takesPrompt: true,
  program: 'codex',
  validate,
  planLaunch,
  resumeCommand: (program, thread) => [program, 'exec', 'resume', thread, 'Continue.'],
  readLine: (line, memory) => readLine(line, memory, Date.now()),
  findThread,
  explainExit: evidence => explainExit(evidence, Date.now()),
}

const AUTONOMY_ARGUMENTS: Readonly<Record<Autonomy, readonly string[]>> = {
  full: ['--dangerously-bypass-approvals-and-sandbox'],
  edits: ['-s', 'workspace-write'],
  // `exec` never asks: the sandbox refuses every action that would need a question.
  ask: ['-s', 'read-only'],
}

export function planLaunch(request: LaunchRequest): LaunchPlan {
  const [program = 'codex', ...own] = request.argv
  const { program: binary, env } = findBinary(program)
  return {
    // The caller's arguments come first: `-i FILE…` takes every following word up to the next option, and ours begin
    // with one.
    argv: [
      binary,
      'exec',
      ...own,
      '--json',
      ...AUTONOMY_ARGUMENTS[request.autonomy],
      '--skip-git-repo-check',
      ...requestArguments(request),
    ],
    env,
    stdin: 'text',
  }
}

/** codex 0.166.0: `resume` takes no sandbox option, so it follows the options. */
function requestArguments({ model, effort, resume }: LaunchRequest): string[] {
  return [
    ...(model === null ? [] : ['-m', model]),
    ...(effort === null ? [] : ['-c', `model_reasoning_effort=${JSON.stringify(effort)}`]),
    ...(resume === null ? [] : ['resume', resume]),
    '-',
  ]
}

interface Binary {
  readonly program: string
  readonly env: Readonly<Record<string, string>>
}

/**
 * Returns the program itself when `program` is the wrapper of the npm package, else `program`. codex 0.166.0: after a
 * kill of the wrapper, the real program continues to work and holds the thread's lock.
 */
export function findBinary(program: string, platform = `${process.platform}-${process.arch}`): Binary {
  const wrapper = realPath(program)
  const target = TARGETS[platform]
  if (!wrapper.endsWith('/@openai/codex/bin/codex.js') || target === undefined) return { program, env: {} }
  const root = path.dirname(path.dirname(wrapper))
  const binary = path.join(platformPackage(wrapper, platform) ?? root, 'vendor', target, 'bin/codex')
  if (!fs.existsSync(binary)) return { program, env: {} }
  // The wrapper sets these variables too; with them, hints about updates name the right command.
  return { program: binary, env: { CODEX_MANAGED_PACKAGE_ROOT: root, [managerVariable(wrapper)]: '1' } }
}

const TARGETS: Readonly<Record<string, string>> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
}

/** Resolves the package as Node does from the wrapper, so that it finds a nested, hoisted or linked one. */
function platformPackage(wrapper: string, platform: string): string | undefined {
  try {
    return path.dirname(createRequire(wrapper).resolve(`@openai/codex-${platform}/package.json`))
  } catch {
    return undefined // Older packages contain the program themselves.
  }
}

function managerVariable(wrapper: string): string {
  if (wrapper.includes('/.bun/install/global/')) return 'CODEX_MANAGED_BY_BUN'
  return wrapper.includes('/.pnpm/') ? 'CODEX_MANAGED_BY_PNPM' : 'CODEX_MANAGED_BY_NPM'
}

/** Explains an exit for which codex reported no turn result, or a wrong one. */
export function explainExit(evidence: ExitEvidence, now: Instant): TurnResult | null {
  const { word, exit } = evidence
  if (word?.ok === true) return findDenial(evidence)
  if (word !== null) return resetInAgentZone(word.failure, evidence.env['TZ'], now)
  if (exit.kind !== 'code' || exit.code === 0) return null
  const failure = findStderrFailure(evidence.stderr) ?? failureOfTurn(restoreState(evidence.memory).error, now)
  return failure === null ? null : failedTurn(failure)
}

function findDenial({ memory, env, stderr }: ExitEvidence): TurnResult | null {
  const denied = readRecordedDenial(restoreState(memory).thread, env) ?? REJECTED_PATCH.exec(stderr)?.[1]
  if (denied === undefined) return null
  return failedTurn(
    makeFailure('denied', `codex was not allowed to do it: ${denied}`, 'give the session more autonomy'),
  )
}

/**
 * codex writes this line on stderr when a script of the model hides the refusal from the rollout. It counts only in a
 * read-only sandbox: where codex may write, the refusal may not matter.
 */
const REJECTED_PATCH = /error=(patch rejected: writing is blocked by read-only sandbox)/

function readRecordedDenial(thread: string, env: ExitEvidence['env']): string | undefined {
  try {
    const file = thread === '' ? null : findRollout(thread, env)
    return file === null ? undefined : (findDeniedTool(fs.readFileSync(file, 'utf8')) ?? undefined)
  } catch {
    return undefined // An unreadable rollout proves nothing against the agent's own result.
  }
}

/** The clock times in codex's messages are in the time zone of the agent, which may differ from ours. */
function resetInAgentZone(failure: Failure, zone: string | undefined, now: Instant): TurnResult | null {
  if (failure.kind !== 'rate-limit' || zone === undefined || zone === '') return null
  const { resetAt } = classifyError(failure.text, now, zone.replace(/^:/, ''))
  return resetAt === failure.resetAt ? null : failedTurn({ ...failure, resetAt })
}

function failureOfTurn(error: string, now: Instant): Failure | null {
  return error === '' ? null : classifyError(error, now)
}

/**
 * Finds the error that codex prints when it exits before a turn began. Its log lines begin with the time and do not
 * count.
 */
function findStderrFailure(stderr: string): Failure | null {
  const lines = stderr.split('\n').filter(line => !/^\d{4}-\d\d-\d\dT/.test(line))
  // Another process still writes the thread, or its lock still exists: a retry may succeed.
  if (lines.some(line => line.includes('already has an active writer'))) return null
  for (const line of lines) {
    if (/no rollout found/.test(line)) return makeFailure('thread-lost', line)
    if (/^Error: .*(?:not logged in|401|sign in again|codex login)/i.test(line))
      return makeFailure('login', line, 'codex login')
    if (SETUP_ERRORS.test(line)) return makeFailure('setup', line)
  }
  return null
}

const SETUP_ERRORS =
  /^error: |^Error loading config|^Not inside a trusted|^No prompt provided|^Error: (?:Model provider|Input exceeds)/
