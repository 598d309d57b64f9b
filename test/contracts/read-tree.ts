import fs from 'node:fs'
import { rawPath } from '../../src/lib/text/raw-path.ts'

const GIT_FILE = /(^|\/)\.git(\/|$)/

/** Returns every file of a folder with its type and content, without git's own files. */
export function readTree(folder: string): Map<string, string> {
  const files = [...filesBelow(Buffer.from(folder), '')].filter(({ path }) => !GIT_FILE.test(path))
  return new Map(files.map(({ path, file, stat }) => [path, describe(file, stat)]))
}

function describe(file: Buffer, stat: fs.Stats): string {
  if (stat.isSymbolicLink()) return `link ${rawPath(fs.readlinkSync(file, { encoding: 'buffer' }))}`
  return `${stat.mode & 0o100 ? 'program' : 'file'} ${rawPath(fs.readFileSync(file))}`
}

/** Returns everything of a repository that belongs to its user, to the byte, without oneshot's refs and objects. */
export function readUserState(repository: string): Map<string, string> {
  const state = new Map<string, string>()
  for (const { path, file, stat } of filesBelow(Buffer.from(repository), '')) {
    const isOfGit = GIT_FILE.test(path)
    if (isOfGit && /\/(objects|refs\/oneshot)\//.test(path)) continue
    const content = isOfGit ? rawPath(fs.readFileSync(file)) : ''
    // git rewrites most of its own files without a change; only the time of an index matters.
    const isAgeless = isOfGit && !path.endsWith('/index')
    state.set(path, isAgeless ? content : `${stat.mtimeMs} ${stat.ino} ${stat.mode} ${content}`)
  }
  return state
}

function* filesBelow(folder: Buffer, prefix: string): Generator<{ path: string; file: Buffer; stat: fs.Stats }> {
  for (const name of fs.readdirSync(folder, { encoding: 'buffer' }).sort((one, other) => one.compare(other))) {
    const file = Buffer.concat([folder, Buffer.from('/'), name])
    const path = prefix + rawPath(name)
    const stat = fs.lstatSync(file)
    if (stat.isDirectory()) yield* filesBelow(file, `${path}/`)
    else yield { path, file, stat }
  }
}
