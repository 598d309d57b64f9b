import fs from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { refusal } from '../contract/problems.ts'
import { locateFiles, readUserFile, parseToml } from './files.ts'
import { KEYS, type KeyName } from './keys.ts'
import { readTable } from './sources.ts'

/** Sets a key in the user's own file, or removes it with null. Comments, order and all other keys stay. Answers the file's path. */
export async function writeUserKey(env: NodeJS.ProcessEnv, key: KeyName, value: string | null): Promise<string> {
  const file = locateFiles(env, '/').user
  // A file that cannot be read is not written to.
  const before = (await readUserFile({ ...env, ONESHOT_CONFIG: file }, { mayBeAbsent: true })) ?? {}
  const { [key]: _, ...others } = before
  const wanted = value === null ? others : { ...others, [key]: typed(key, value) }
  readTable('user', file, value === null ? {} : { [key]: value })
  const old = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''
  const text = withKey(old, key, value === null ? null : `${key} = ${JSON.stringify(typed(key, value))}`)
  if (!isDeepStrictEqual({ ...(await parseToml(file, text)) }, wanted))
    throw refusal('config-invalid', `${file} cannot be changed safely by a program`, 'oneshot config edit')
  replace(file, text)
  return file
}

function typed(key: KeyName, value: string): string | boolean {
  return typeof KEYS[key].fallback === 'boolean' ? KEYS[key].read(value) === true : value
}

/** Keys of ours stand before the first table. */
function withKey(text: string, key: KeyName, line: string | null): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  const firstTable = lines.findIndex(known => /^\s*\[/.test(known))
  const end = firstTable < 0 ? lines.length : firstTable
  const at = lines.slice(0, end).findIndex(known => new RegExp(`^\\s*"?${key}"?\\s*=`).test(known))
  const fresh = line === null ? [] : [line]
  if (at >= 0) lines.splice(at, 1, ...fresh)
  else {
    const last = lines.slice(0, end).findLastIndex(known => known.trim() !== '')
    lines.splice(last + 1, 0, ...fresh, ...(last + 1 === end && end < lines.length ? [''] : []))
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

/** Whole or not at all. A link to a folder of settings stays a link; the permissions stay as they were. */
function replace(file: string, text: string): void {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  const target = stat === undefined ? file : fs.realpathSync(file)
  const draft = `${target}.${process.pid}.tmp`
  fs.writeFileSync(draft, text, { mode: stat === undefined ? 0o600 : stat.mode & 0o777, flag: 'wx' })
  fs.renameSync(draft, target)
}
