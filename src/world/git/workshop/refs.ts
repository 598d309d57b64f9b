import fs from 'node:fs'
import path from 'node:path'
import type { UserRefs } from '../../../ports/workshop.ts'
import { readPart, readRegular } from '../../os/files.ts'
import { lstat } from '../lstat.ts'
import type { Place } from '../place.ts'

/** Bytes; whoever has more refs than fit is not watched. */
const LARGEST = 32 * 1024 * 1024
const LINE = /^([0-9a-f]{40,64}) (refs\/(?:heads|tags)\/.+)$/
const HASH = /^[0-9a-f]{40,64}$/

/** Branches, tags and stashes, but for the branches of loops. Read from files: to start git takes longer. Null where they lie elsewhere. */
export function userRefs({ repository }: Place): UserRefs | null {
  const { commonDir } = repository
  if (fs.existsSync(path.join(commonDir, 'reftable'))) return null
  const refs = new Map<string, string>()
  for (const line of textOf(path.join(commonDir, 'packed-refs')).split('\n')) {
    const [, id, name] = LINE.exec(line) ?? []
    if (id !== undefined && name !== undefined) refs.set(name, id)
  }
  for (const kind of ['refs/heads', 'refs/tags']) {
    for (const name of filesBelow(commonDir, kind)) {
      const id = textOf(path.join(commonDir, name)).trim()
      if (HASH.test(id)) refs.set(name, id)
    }
  }
  for (const name of refs.keys()) if (name.startsWith('refs/heads/oneshot/')) refs.delete(name)
  const stashes = textOf(path.join(commonDir, 'logs/refs/stash')).split('\n')
  return { refs, stashes: stashes.flatMap(line => /^[0-9a-f]+ ([0-9a-f]{40,64}) /.exec(line)?.[1] ?? []) }
}

/** Refs among which content of others may be; `git log` reads the same by --branches, --remotes, --tags and --glob. */
const WITH_WORK = /^refs\/(?:(?:heads|remotes|tags)\/.+|stash)$/

/**
 * The ids of all branches, remote branches, tags and the stash. Null where files do not tell all of them: a symbolic ref, a link,
 * a file that is no ref, or refs that lie elsewhere.
 */
export function tipsByFiles(commonDir: string): ReadonlySet<string> | null {
  try {
    const ids = new Set(readTips(commonDir).values())
    return [...ids].every(id => HASH.test(id)) ? ids : null
  } catch {
    return null // Somebody changes them at this moment, or only git may read them.
  }
}

function readTips(commonDir: string): Map<string, string> {
  const read = (name: string): string => readRegular(path.join(commonDir, name), LARGEST).content.toString('latin1')
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

function textOf(file: string): string {
  try {
    return readPart(file, 0, LARGEST).toString('latin1')
  } catch {
    return '' // Gone meanwhile, or no file.
  }
}

function filesBelow(top: string, folder: string): string[] {
  let entries: fs.Dirent[]
  try {
    entries = fs.readdirSync(path.join(top, folder), { withFileTypes: true })
  } catch {
    return [] // There are none of that kind.
  }
  return entries.flatMap(entry => {
    const name = `${folder}/${entry.name}`
    if (entry.isDirectory()) return name === 'refs/heads/oneshot' ? [] : filesBelow(top, name)
    return entry.isFile() && !name.endsWith('.lock') ? [name] : []
  })
}
