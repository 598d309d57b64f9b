import type { UserRefs } from '../../../../ports/worktrees.ts'
import { type RepositoryContext } from '../../repository-context.ts'
import path from 'node:path'
import { readPart, readRegularFile } from '../../../../os/files/file-io.ts'
import fs from 'node:fs'
import { lstat } from '../../../../os/files/lstat-if-exists.ts'

/** Bytes; we do not watch a repository with a larger ref file. */
const MAX_REFS_SIZE = 32 * 1024 * 1024

const PACKED_REF = /^([0-9a-f]{40,64}) (refs\/(?:heads|tags)\/.+)$/

const REF_TARGET = /^[0-9a-f]{40,64}$/

/**
 * Returns branches, tags and stashes without the branches of loops. Reads files, because starting git takes longer.
 * Returns null if the repository stores refs in another format.
 */
export function readUserRefs({ repository }: RepositoryContext): UserRefs | null {
  const { commonDir } = repository
  if (fs.existsSync(path.join(commonDir, 'reftable'))) return null
  const refs = new Map<string, string>()
  for (const line of readText(path.join(commonDir, 'packed-refs')).split('\n')) {
    const [, id, name] = PACKED_REF.exec(line) ?? []
    if (id !== undefined && name !== undefined) refs.set(name, id)
  }
  for (const kind of ['refs/heads', 'refs/tags']) {
    for (const name of listFiles(commonDir, kind)) {
      const id = readText(path.join(commonDir, name)).trim()
      if (REF_TARGET.test(id)) refs.set(name, id)
    }
  }
  for (const name of refs.keys()) if (name.startsWith('refs/heads/oneshot/')) refs.delete(name)
  const stashes = readText(path.join(commonDir, 'logs/refs/stash')).split('\n')
  return { refs, stashes: stashes.flatMap(line => /^[0-9a-f]+ ([0-9a-f]{40,64}) /.exec(line)?.[1] ?? []) }
}

/** Refs that may contain others' work; `git log` reads the same set by --branches, --remotes, --tags and --glob. */
const WITH_WORK = /^refs\/(?:(?:heads|remotes|tags)\/.+|stash)$/

/**
 * Returns the ids of all branches, remote branches, tags and the stash. Returns null if the files do not show all of
 * them: a symbolic ref, a link, a file that is no ref, or another storage format.
 */
export function tipsByFiles(commonDir: string): ReadonlySet<string> | null {
  try {
    const ids = new Set(readTips(commonDir).values())
    return [...ids].every(id => REF_TARGET.test(id)) ? ids : null
  } catch {
    return null // Another process is changing them, or we may not read them.
  }
}

function readTips(commonDir: string): Map<string, string> {
  const read = (name: string): string =>
    readRegularFile(path.join(commonDir, name), MAX_REFS_SIZE).content.toString('latin1')
  const kindOf = (name: string): fs.Stats | undefined => lstat(path.join(commonDir, name))
  if (kindOf('reftable') !== undefined) throw new Error('the refs are in tables')
  const tips = new Map<string, string>()
  const packed = kindOf('packed-refs') === undefined ? '' : read('packed-refs')
  for (const line of packed.split('\n')) {
    const name = line.slice(line.indexOf(' ') + 1)
    if (WITH_WORK.test(name)) tips.set(name, line.slice(0, line.indexOf(' ')))
  }
  const names = ['refs/heads', 'refs/remotes', 'refs/tags', 'refs/stash']
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    const kind = kindOf(name)
    if (kind === undefined) continue
    if (kind.isDirectory())
      for (const entry of fs.readdirSync(path.join(commonDir, name))) names.push(`${name}/${entry}`)
    else tips.set(name, read(name).trimEnd())
  }
  return tips
}

function readText(file: string): string {
  try {
    return readPart(file, 0, MAX_REFS_SIZE).toString('latin1')
  } catch {
    return '' // The file vanished, or it is no regular file.
  }
}

function listFiles(top: string, folder: string): string[] {
  let entries: fs.Dirent[]
  try {
    entries = fs.readdirSync(path.join(top, folder), { withFileTypes: true })
  } catch {
    return [] // There are no refs of that kind.
  }
  return entries.flatMap(entry => {
    const name = `${folder}/${entry.name}`
    if (entry.isDirectory()) return name === 'refs/heads/oneshot' ? [] : listFiles(top, name)
    return entry.isFile() && !name.endsWith('.lock') ? [name] : []
  })
}
