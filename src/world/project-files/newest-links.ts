import fs from 'node:fs'
import path from 'node:path'
import { temporaryName, renameOver } from '../../os/files/file-io.ts'
import type { SessionId } from '../../state/session-folder.ts'
import { FILES, removeTemporaryFiles } from './agent-folder.ts'
import type { FolderHandle } from '../../os/files/folder-handle.ts'

/** Points the links at the top of the agent folder to the files of the named session; null removes them. */
export function linkTo(agent: FolderHandle, name: string | null, sessions: string): void {
  removeTemporaryFiles(agent)
  for (const file of FILES) {
    const target = readLinkTarget(agent, file)
    if (target === undefined || (target !== null && !isOwnLink(target, file, sessions))) continue
    const newTarget = name === null ? null : `${name}/${file}`
    if (newTarget === target) continue
    if (newTarget === null) fs.rmSync(agent.at(file), { force: true })
    else relink(agent, file, newTarget)
  }
}

/** Removes links of earlier versions into the state folder if they belong to that session or are dangling. */
export function removeOldLinks(agent: FolderHandle, { sessions, id }: { sessions: string; id: SessionId }): void {
  for (const file of fs.readdirSync(agent.at('.')).filter(name => name.endsWith('.log'))) {
    const target = readLinkTarget(agent, file)
    if (!target?.startsWith(`${sessions}/`)) continue
    if (target.startsWith(`${sessions}/${id}/`) || !fs.existsSync(target)) fs.rmSync(agent.at(file), { force: true })
  }
}

/** Returns null if nothing has that name, and undefined if something other than a link has it. */
function readLinkTarget(agent: FolderHandle, file: string): string | null | undefined {
  const found = fs.lstatSync(agent.at(file), { throwIfNoEntry: false })
  if (found === undefined) return null
  return found.isSymbolicLink() ? fs.readlinkSync(agent.at(file)) : undefined
}

/**
 * Returns true for oneshot's links: they lead to a session's file, or in earlier versions into the state folder. Links
 * of the user stay.
 */
function isOwnLink(target: string, file: string, sessions: string): boolean {
  const isNear = /^[a-z0-9-]+$/.test(path.dirname(target)) && path.basename(target) === file
  return isNear || target.startsWith(`${sessions}/`)
}

function relink(agent: FolderHandle, file: string, target: string): void {
  const temporary = temporaryName(file)
  fs.symlinkSync(target, agent.at(temporary))
  renameOver(agent, temporary, file)
}
