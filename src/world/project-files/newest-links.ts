import fs from 'node:fs'
import path from 'node:path'
import { temporaryName, renameOver } from '../../os/files/file-io.ts'
import { FILES, removeTemporaryFiles } from './agent-folder.ts'
import type { FolderHandle } from '../../os/files/folder-handle.ts'

/** Has the links at the top of a project's folder lead to the files of the session of that name; null takes them away. */
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

/** Takes away links of earlier versions that led into the state folder, when they belong to that session or lead nowhere. */
export function removeOldLinks(agent: FolderHandle, { sessions, id }: { sessions: string; id: string }): void {
  for (const file of fs.readdirSync(agent.at('.')).filter(name => name.endsWith('.log'))) {
    const target = readLinkTarget(agent, file)
    if (!target?.startsWith(`${sessions}/`)) continue
    if (target.startsWith(`${sessions}/${id}/`) || !fs.existsSync(target)) fs.rmSync(agent.at(file), { force: true })
  }
}

/** Null when there is nothing, undefined when there is something that is no link. */
function readLinkTarget(agent: FolderHandle, file: string): string | null | undefined {
  const found = fs.lstatSync(agent.at(file), { throwIfNoEntry: false })
  if (found === undefined) return null
  return found.isSymbolicLink() ? fs.readlinkSync(agent.at(file)) : undefined
}

/** A link of the user's own stays: ours lead to a session's file, or did so into the state folder in earlier versions. */
function isOwnLink(target: string, file: string, sessions: string): boolean {
  const isNear = /^[a-z0-9-]+$/.test(path.dirname(target)) && path.basename(target) === file
  return isNear || target.startsWith(`${sessions}/`)
}

function relink(agent: FolderHandle, file: string, target: string): void {
  const temporary = temporaryName(file)
  fs.symlinkSync(target, agent.at(temporary))
  renameOver(agent, temporary, file)
}
