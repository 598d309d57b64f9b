import { refusal } from '../api/contract/problems.ts'
import type { RunRequest } from '../api/contract/requests.ts'
import type { Session } from '../core/session.ts'
import { freeName, isTaskName, sessionName } from '../core/task-name.ts'
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
  if (request.name === undefined) return slug(title.replace(/^\S*\//, ''), 'task')
  if (isTaskName(request.name)) return request.name
  throw refusal(
    'name-invalid',
    `the name ${JSON.stringify(request.name)} cannot be used: lower-case letters, digits and hyphens only`,
    `--name ${slug(request.name, 'task')}`,
  )
}
