import type { SessionId } from '../core/session/session-id-and-name.ts'
import { mapOf, string } from '../lib/codec.ts'
import { Trouble } from '../lib/errors.ts'
import { writeDurably } from '../os/files/file-io.ts'
import { readJsonFile } from '../os/files/json-file.ts'
import type { Home } from './home.ts'
import { sessionFolder } from './session-folder.ts'

/** Bytes; more than any request that the supervisor accepts. */
const MAX_FILE_SIZE = 256 * 1_048_576

export type Environment = Readonly<Record<string, string>>

/**
 * Returns the saved environment of a session, without the user's tmux variables: an agent that runs `tmux kill-server`
 * must not end the user's server. Throws if the file is missing or damaged: no program may start without it.
 */
export function readEnvironment(home: Home, id: SessionId): Environment {
  const env = findEnvironment(home, id)
  if (env === undefined) throw new Trouble(`reading ${sessionFolder(home, id).env}`, 'there is no such file')
  return env
}

/** Like `readEnvironment`, but returns undefined if the file is missing: somebody has removed the session. */
export function findEnvironment(home: Home, id: SessionId): Environment | undefined {
  const saved = readJsonFile(sessionFolder(home, id).env, mapOf(string), MAX_FILE_SIZE)
  if (saved === undefined) return undefined
  const { TMUX: _socket, TMUX_PANE: _pane, ...env } = saved
  return env
}

export function writeEnvironment(home: Home, id: SessionId, env: Environment): void {
  writeDurably(sessionFolder(home, id).env, JSON.stringify(env))
}
