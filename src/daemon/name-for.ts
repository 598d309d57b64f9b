import path from 'node:path'
import { refusal } from '../api/contract/problems.ts'
import type { RunRequest } from '../api/contract/requests.ts'
import type { Session } from '../core/session.ts'
import { freeName, isTaskName, sessionName } from '../core/task-name.ts'
import { secretsIn } from '../lib/mask/env-secrets.ts'
import { slug } from '../lib/slug.ts'

/** What a session is called. A name somebody chose is refused while a live session has it; a made-up one gets a number. */
export function nameFor(request: RunRequest, title: string, sessions: readonly Session[]): string {
  const name = sessionName(request.agent, taskOf(request, title))
  const bearerOf = (candidate: string): Session | undefined =>
    sessions.find(({ spec, phase }) => spec.name === candidate && phase.name !== 'ended')
  if (request.name === undefined)
    return freeName(name, candidate => sessions.some(({ spec }) => spec.name === candidate))
  if (request.isNameMadeUp === true) return freeName(name, candidate => bearerOf(candidate) !== undefined)
  const bearer = bearerOf(name)
  if (bearer === undefined) return name
  const { cwd } = bearer.spec
  const where = cwd === request.cwd ? '' : ` in ${cwd}`
  throw refusal(
    'name-taken',
    `a session called ${name} is already ${bearer.phase.name}${where}`,
    `choose another --name, or: oneshot stop ${name}`,
  )
}

function taskOf(request: RunRequest, title: string): string {
  if (request.name === undefined) return slug(nameable(title), slug(path.basename(request.cwd), 'task'))
  const { name } = request
  // It is in refs, which may be pushed, and in argument lists of tmux.
  if (secretsIn(request.env).some(secret => name.includes(secret.toLowerCase())))
    throw refusal('name-invalid', 'the name holds the value of a secret variable', 'choose another --name')
  if (isTaskName(request.name)) return request.name
  throw refusal(
    'name-invalid',
    `the name ${JSON.stringify(request.name)} cannot be used: lower-case letters, digits and hyphens only`,
    `--name ${slug(request.name, 'task')}`,
  )
}

/** A command is named after its program: without the program's folder, and without the shell that only reads its line. */
function nameable(title: string): string {
  const line = /^\S*\b(?:ba|da|z|k)?sh -\w*c '?(.+)$/s.exec(title)?.[1] ?? title
  return line.replace(/^\S*\//, '')
}
