import crypto from 'node:crypto'
import { shownName } from '../api/contract/shown-name.ts'
import fs from 'node:fs'
import path from 'node:path'
import { AGENT_KINDS, AGENT_PROGRAMS, installCommand, LOOP_KINDS } from '../api/contract/known-agents.ts'
import { refusal } from '../api/contract/problems.ts'
import type { RunRequest } from '../api/contract/run-request.ts'
import { type SessionId, sessionId } from '../core/session/session-id-and-name.ts'
import { completeSupervision } from '../core/session/supervision-options.ts'
import type { Mode, Session, Spec } from '../core/session/session-state.ts'
import { isThreadId, type ThreadId, threadId } from '../core/session/conversation.ts'
import { maskAndTruncate } from '../lib/mask/mask.ts'
import { findEnvSecrets } from '../lib/mask/env-secrets.ts'
import { Mask } from '../lib/mask/mask.ts'
import { nameUuid } from '../lib/name-uuid.ts'
import { didYouMean } from '../lib/text/did-you-mean.ts'
import { formatCommandLine } from '../lib/text/shell-words.ts'
import type { Refusal } from '../lib/errors.ts'
import { toOneLine } from '../lib/text/strip-terminal-controls.ts'
import type { Instant } from '../lib/time.ts'
import type { Agent, LaunchRequest } from '../ports/agent.ts'
import { which } from '../os/which.ts'
import { assertListUnused } from './refuse-conflicting-loop.ts'
import { chooseSessionName, type KnownSessions } from './session-name.ts'

/** Turns a request into a spec, or refuses it with a message that says what to change. */
export function buildSpec(
  request: RunRequest,
  context: { agents: (kind: string) => Agent; now: Instant } & KnownSessions,
): { spec: Spec; prompt: Uint8Array | null; thread?: { id: ThreadId; heard: number } } {
  const agent = findAgent(request, context.agents)
  const prompt = decodePrompt(request, agent)
  assertFolderExists(request.cwd)
  assertValidEnvironment(request.env)
  for (const choice of ['model', 'effort'] as const) assertNotAnOption(choice, request[choice])
  const argv = resolveProgram(request, agent)
  const title = makeTitle(request, prompt)
  assertListUnused({ agent: request.agent, cwd: request.cwd, argv }, context.live)
  const name = chooseSessionName(request, title, context)
  const { onExit } = request.supervision
  const spec: Spec = {
    id: newSessionId(),
    name,
    task: name.startsWith(`${request.agent}-`) ? name.slice(request.agent.length + 1) : name,
    agent: request.agent,
    mode: chooseMode(request, agent),
    proof: agent.proof,
    cwd: request.cwd,
    ...(request.umask !== undefined && { umask: request.umask }),
    argv,
    title,
    autonomy: request.autonomy ?? 'full',
    model: request.model ?? null,
    effort: request.effort ?? null,
    supervision: {
      ...completeSupervision(request.supervision, agent.silence),
      ...(onExit !== undefined && { onExit: resolveHook(onExit, request) }),
    },
    ...(request.tty !== undefined && { tty: request.tty }),
    ...(request.parent !== undefined && { parent: { ...request.parent, id: sessionId(request.parent.id) } }),
    createdAt: context.now,
  }
  assertLaunchable(spec, request, agent)
  const thread = findThread(request, agent, context.live)
  return thread === undefined ? { spec, prompt } : { spec, prompt, thread }
}

/** Resolves the on-exit program now, so that the user learns of a typing error at the start and not at the end. */
function resolveHook([program = '', ...args]: readonly string[], { env, cwd }: RunRequest): string[] {
  if ([program, ...args].some(word => word.includes('\0')))
    throw refusal('argument-invalid', 'the on-exit command contains a NUL byte', 'put it into a file')
  const found = which(program, env, cwd)
  if (found !== undefined) return [found, ...args]
  const hint = 'give its full path; a line for a shell is --on-exit-shell'
  throw refusal('program-missing', `the on-exit command ${program} was not found`, hint)
}

function chooseMode(request: RunRequest, agent: Agent): Mode {
  const mode = request.mode ?? agent.defaultMode
  if (agent.modes.includes(mode)) return mode
  throw refusal(
    'usage',
    `${agent.kind} with a prompt runs without a terminal`,
    `for its own screen: oneshot run --tty -- ${String(agent.program)}`,
  )
}

/** Refuses options now that the program would refuse later, with a message that says what to do. */
function assertLaunchable(spec: Spec, request: RunRequest, agent: Agent): void {
  const problem = agent.validate?.(firstLaunchRequest(spec, request.env), { isRoot: process.getuid?.() === 0 })
  if (problem) throw refusal('agent-objects', problem.problem, problem.remedy)
}

/** Returns the launch request of the first attempt. */
export function firstLaunchRequest(spec: Spec, env: Readonly<Record<string, string>>): LaunchRequest {
  const { argv, mode, cwd, autonomy, model, effort } = spec
  const { usd, turns } = spec.supervision.limits
  const tag = threadId(nameUuid(spec.id))
  return {
    argv,
    mode,
    cwd,
    env,
    resume: null,
    tag,
    isContinuation: false,
    autonomy,
    model,
    effort,
    budget: { usd, turns },
  }
}

/** Finds the conversation to continue. It must exist, and no other live session may use it. */
function findThread(
  request: RunRequest,
  agent: Agent,
  live: readonly Session[],
): { id: ThreadId; heard: number } | undefined {
  const { thread, cwd, env } = request
  if (thread === undefined) return undefined
  if (agent.findThread === undefined)
    throw refusal('usage', `${agent.kind} has no conversations that can be continued`, 'leave out --thread')
  assertThreadFree({ agent: agent.kind, thread }, live)
  const found = !isThreadId(thread)
    ? null
    : agent.findThread({ thread, tag: thread, cwd, env, since: 0, isForeign: () => false, opening: '' })
  if (found !== null) return { id: found.thread, heard: found.messages.length }
  throw refusal('thread-missing', `${agent.kind} has no conversation ${thread} for ${cwd}`, 'check its id and --cwd')
}

/** Refuses a second live session on one conversation: a conversation has one writer. */
export function assertThreadFree(requested: { agent: string; thread: string }, live: readonly Session[]): void {
  const holder = live.find(({ spec, thread }) => spec.agent === requested.agent && thread.id === requested.thread)
  if (holder === undefined) return
  const name = shownName(holder.spec)
  throw refusal('thread-busy', `${name} uses that conversation now`, `oneshot send ${name} "…"`)
}

function findAgent(request: RunRequest, agents: (kind: string) => Agent): Agent {
  if ([...AGENT_KINDS, ...LOOP_KINDS].includes(request.agent)) return agents(request.agent)
  const suggestion = didYouMean(request.agent, AGENT_KINDS)
  throw refusal(
    'agent-unknown',
    `there is no agent called ${request.agent}`,
    suggestion ? `did you mean ${suggestion}?` : `one of ${AGENT_KINDS.join(', ')}`,
  )
}

function decodePrompt(request: RunRequest, agent: Agent): Uint8Array | null {
  if (!agent.takesPrompt) return null
  const prompt = Buffer.from(request.prompt ?? '', 'base64')
  if (prompt.toString('latin1').trim() === '')
    throw refusal('prompt-empty', 'the prompt is empty', 'oneshot run "what to do"')
  return prompt
}

/** Refuses variables that no program can receive unchanged. */
export function assertValidEnvironment(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (name !== '' && !/[=\0]/.test(name) && !value.includes('\0')) continue
    const what = name === '' ? 'a variable without a name' : `the variable ${JSON.stringify(name)}`
    throw refusal('argument-invalid', `the environment holds ${what}, which no program can receive`, 'leave it out')
  }
}

/** Refuses a value that looks like an option: it becomes an argument, and the program could read it as an option. */
function assertNotAnOption(option: string, value: string | undefined): void {
  if (value === undefined || /^[^-\s\p{Cc}][^\p{Cc}]{0,199}$/u.test(value)) return
  throw refusal('argument-invalid', `the ${option} ${JSON.stringify(value)} is no name`, `check --${option}`)
}

export function assertFolderExists(cwd: string, hint = 'give an existing folder with --cwd'): void {
  if (cwd.includes('\0') || !path.isAbsolute(cwd))
    throw refusal('cwd-missing', `${JSON.stringify(cwd)} is no absolute path of a folder`, hint)
  const stat = fs.statSync(cwd, { throwIfNoEntry: false })
  if (stat === undefined) throw refusal('cwd-missing', `the folder ${cwd} does not exist`, hint)
  if (!stat.isDirectory()) throw refusal('cwd-missing', `${cwd} is not a folder`, hint)
}

/** Resolves the program to an absolute path, so that every restart runs the same program. */
function resolveProgram(request: RunRequest, agent: Agent): string[] {
  if (request.argv.some(word => word.includes('\0'))) {
    throw refusal(
      'argument-invalid',
      'an argument contains a NUL byte, which no program can receive',
      'put it into a file',
    )
  }
  const ownProgram = agent.program
  const [program, ...rest] =
    typeof ownProgram === 'string' ? [ownProgram, ...request.argv] : [...ownProgram, ...request.argv]
  if (program === undefined || program === '')
    throw refusal('usage', 'no program was given', 'oneshot run -- pytest tests/ -v')
  const found = which(program, request.env, request.cwd)
  if (found !== undefined) return [found, ...rest]
  throw program.includes('/') ? refuseUnusablePath(program, request.cwd) : refuseMissingProgram(program)
}

function refuseMissingProgram(program: string): Refusal {
  const agentProgram = AGENT_PROGRAMS.find(agent => agent.program === program)
  return refusal(
    'program-missing',
    `${program} was not found on PATH`,
    agentProgram === undefined
      ? 'install it, or give its full path'
      : installCommand(agentProgram, process.versions.node),
  )
}

function refuseUnusablePath(program: string, cwd: string): Refusal {
  const file = path.resolve(cwd, program)
  if (!fs.existsSync(file)) return refusal('program-missing', `${program} was not found`, 'check the path')
  if (fs.statSync(file).isDirectory()) return refusal('program-missing', `${program} is a folder`, 'check the path')
  return refusal('program-missing', `${program} is not executable`, `chmod +x ${program}`)
}

function makeTitle(request: RunRequest, prompt: Uint8Array | null): string {
  const mask = new Mask(findEnvSecrets(request.env))
  return prompt === null ? firstLine(formatCommandLine(request.argv), mask) : summarize(prompt, mask)
}

/** Returns the first line of a text, by which people recognise it. */
export function summarize(text: Uint8Array, mask = new Mask()): string {
  return firstLine(Buffer.from(text.subarray(0, 4_096)).toString(), mask)
}

function firstLine(text: string, mask: Mask): string {
  const first =
    text
      .split('\n')
      .map(toOneLine)
      .find(line => line !== '') ?? ''
  return maskAndTruncate(first, 120, mask)
}

/** Returns a random id. Ten characters are short enough for a socket path, and enough to avoid collisions. */
export function newSessionId(): SessionId {
  const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'
  return sessionId(Array.from(crypto.randomBytes(10), byte => alphabet[byte % 32]).join(''))
}
