import path from 'node:path'
import { refusal } from '../api/contract/problems.ts'
import type { RunRequest } from '../api/contract/run-request.ts'
import { publicPhase, type Session } from '../core/session/session-state.ts'
import { findFreeName, isTaskName, sessionName } from '../core/session/session-id-and-name.ts'
import { findEnvSecrets } from '../lib/mask/env-secrets.ts'
import { slugify } from '../lib/text/slug.ts'

/** The sessions whose names a new session cannot take. */
export interface KnownSessions {
  readonly live: readonly Session[]
  /** Returns true when a session, live or ended, has this name. */
  readonly isNameUsed: (name: string) => boolean
}

/**
 * Returns the name of a new session. Refuses a chosen name while a live session has it; adds a number to a generated
 * name.
 */
export function chooseSessionName(request: RunRequest, title: string, { live, isNameUsed }: KnownSessions): string {
  const name = sessionName(request.agent, chooseTaskName(request, title))
  const findHolder = (candidate: string): Session | undefined => live.find(({ spec }) => spec.name === candidate)
  if (request.name === undefined) return findFreeName(name, isNameUsed)
  if (request.isNameMadeUp === true) return findFreeName(name, candidate => findHolder(candidate) !== undefined)
  const holder = findHolder(name)
  if (holder === undefined) return name
  const { cwd } = holder.spec
  const where = cwd === request.cwd ? '' : ` in ${cwd}`
  throw refusal(
    'name-taken',
    `a session called ${name} is already ${publicPhase(holder.phase)}${where}`,
    `choose another --name, or: oneshot stop ${name}`,
  )
}

function chooseTaskName(request: RunRequest, title: string): string {
  if (request.name === undefined) return slugify(stripShellPrefix(title), slugify(path.basename(request.cwd), 'task'))
  const { name } = request
  // The name is part of git refs, which oneshot may push, and of tmux's arguments.
  if (findEnvSecrets(request.env).some(secret => name.includes(secret.toLowerCase())))
    throw refusal('name-invalid', 'the name holds the value of a secret variable', 'choose another --name')
  if (isTaskName(request.name)) return request.name
  throw refusal(
    'name-invalid',
    `the name ${JSON.stringify(request.name)} cannot be used: lower-case letters, digits and hyphens only`,
    `--name ${slugify(request.name, 'task')}`,
  )
}

/** Removes the program's folder, and a shell that only runs the line, so that the name comes from the program. */
function stripShellPrefix(title: string): string {
  const line = /^\S*\b(?:ba|da|z|k)?sh -\w*c '?(.+)$/s.exec(title)?.[1] ?? title
  return line.replace(/^\S*\//, '')
}
