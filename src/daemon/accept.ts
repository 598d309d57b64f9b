import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { AGENT_KINDS } from '../api/contract/agent-kinds.ts'
import { refusal } from '../api/contract/problems.ts'
import type { RunRequest } from '../api/contract/requests.ts'
import { DEFAULT_RESTART } from '../core/rules.ts'
import type { Session, Spec } from '../core/session.ts'
import { freeName, isTaskName, sessionName } from '../core/task-name.ts'
import { nearest } from '../lib/nearest.ts'
import { commandLine } from '../lib/quote.ts'
import type { Refusal } from '../lib/refusal.ts'
import { slug } from '../lib/slug.ts'
import { oneLine } from '../lib/terminal-text.ts'
import type { Instant } from '../lib/time.ts'
import type { Agent } from '../ports/agent.ts'
import { which } from '../world/os/which.ts'

/** Turns a request into what will be done, or refuses it with a sentence that says what to change. */
export function accept(
  request: RunRequest,
  known: { agents: (kind: string) => Agent; sessions: readonly Session[]; now: Instant },
): { spec: Spec; prompt: Uint8Array | null } {
  const agent = agentOf(request, known.agents)
  const prompt = promptOf(request, agent)
  assertFolder(request.cwd)
  const argv = programOf(request, agent)
  const title = titleOf(request, prompt)
  const task = taskOf(request, title)
  const name = nameOf(request, task, known.sessions)
  const spec: Spec = {
    id: newId(),
    name,
    task: name.startsWith(`${request.agent}-`) ? name.slice(request.agent.length + 1) : name,
    agent: request.agent,
    mode: request.mode ?? agent.defaultMode,
    proof: agent.proof,
    cwd: request.cwd,
    ...(request.umask !== undefined && { umask: request.umask }),
    argv,
    title,
    maxTime: request.maxTime,
    restart: DEFAULT_RESTART,
    createdAt: known.now,
  }
  return { spec, prompt }
}

function agentOf(request: RunRequest, agents: (kind: string) => Agent): Agent {
  if (AGENT_KINDS.includes(request.agent)) return agents(request.agent)
  const meant = nearest(request.agent, AGENT_KINDS)
  throw refusal(
    'agent-unknown',
    `there is no agent called ${request.agent}`,
    meant ? `did you mean ${meant}?` : `one of ${AGENT_KINDS.join(', ')}`,
  )
}

function promptOf(request: RunRequest, agent: Agent): Uint8Array | null {
  if (!agent.takesPrompt) return null
  const prompt = Buffer.from(request.prompt ?? '', 'base64')
  if (prompt.toString('latin1').trim() === '')
    throw refusal('prompt-empty', 'the prompt is empty', 'oneshot run "what to do"')
  return prompt
}

function assertFolder(cwd: string): void {
  const stat = fs.statSync(cwd, { throwIfNoEntry: false })
  if (stat === undefined)
    throw refusal('cwd-missing', `the folder ${cwd} does not exist`, 'give an existing folder with --cwd')
  if (!stat.isDirectory()) throw refusal('cwd-missing', `${cwd} is not a folder`, 'give a folder with --cwd')
}

/** The program as an absolute path, so that it is the same at every restart. */
function programOf(request: RunRequest, agent: Agent): string[] {
  if (request.argv.some(word => word.includes('\0'))) {
    throw refusal(
      'argument-invalid',
      'an argument contains a NUL byte, which no program can receive',
      'put it into a file',
    )
  }
  const own = agent.program
  const [program, ...rest] = typeof own === 'string' ? [own, ...request.argv] : [...own, ...request.argv]
  if (program === undefined || program === '')
    throw refusal('usage', 'no program was given', 'oneshot run -- pytest tests/ -v')
  const found = which(program, request.env, request.cwd)
  if (found !== undefined) return [found, ...rest]
  throw program.includes('/') ? unusablePath(program, request.cwd) : notOnPath(program)
}

function notOnPath(program: string): Refusal {
  return refusal('program-missing', `${program} was not found on PATH`, 'install it, or give its full path')
}

function unusablePath(program: string, cwd: string): Refusal {
  const file = path.resolve(cwd, program)
  if (!fs.existsSync(file)) return refusal('program-missing', `${program} was not found`, 'check the path')
  if (fs.statSync(file).isDirectory()) return refusal('program-missing', `${program} is a folder`, 'check the path')
  return refusal('program-missing', `${program} is not executable`, `chmod +x ${program}`)
}

function titleOf(request: RunRequest, prompt: Uint8Array | null): string {
  const text = prompt === null ? commandLine(request.argv) : Buffer.from(prompt.subarray(0, 4_096)).toString()
  const first =
    text
      .split('\n')
      .map(oneLine)
      .find(line => line !== '') ?? ''
  return first.length > 120 ? `${first.slice(0, 119)}…` : first
}

function taskOf(request: RunRequest, title: string): string {
  if (request.name === undefined) return slug(title.replace(/^\S*\//, ''), 'task')
  if (isTaskName(request.name)) return request.name
  throw refusal(
    'name-invalid',
    `the name ${JSON.stringify(request.name)} cannot be used: lower-case letters, digits and hyphens only`,
    `--name ${slug(request.name, 'task')}`,
  )
}

/** A name somebody chose is refused while a live session has it; a made-up one gets a number. */
function nameOf(request: RunRequest, task: string, sessions: readonly Session[]): string {
  const name = sessionName(request.agent, task)
  if (request.name === undefined)
    return freeName(name, candidate => sessions.some(session => session.spec.name === candidate))
  const holder = sessions.find(session => session.spec.name === name && session.phase.name !== 'ended')
  if (holder === undefined) return name
  throw refusal(
    'name-taken',
    `a session called ${name} is already ${holder.phase.name}`,
    `choose another --name, or: oneshot stop ${name}`,
  )
}

/** Ten characters are short enough for a socket's path and enough never to meet again. */
function newId(): string {
  const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'
  return Array.from(crypto.randomBytes(10), byte => alphabet[byte % 32]).join('')
}
