import fs from 'node:fs'
import { locateFiles } from '../../api/config/files.ts'
import { isKeyName, KEY_NAMES, type KeyName, showValue } from '../../api/config/keys.ts'
import { type Config, loadConfig, type Setting } from '../../api/config/load-config.ts'
import { unknownKey } from '../../api/config/sources.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import { renderTable } from '../screen/table.ts'
import { here, type Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function config(line: Line, { env, screen }: Surroundings): Promise<number> {
  const { out } = screen
  const [action = 'list', key] = line.words
  const isJson = line.has(OPTIONS.json)
  if (action !== 'get' && key !== undefined)
    throw refusal('usage', `config ${action} takes no key`, `oneshot config get ${key}`)
  const cwd = here()
  if (action === 'path') {
    const files = describeFiles(env, cwd)
    if (isJson) out.say(toJson(files))
    else for (const { kind, path, exists } of files) out.say(`${kind}  ${path}${exists ? '' : '  (absent)'}`)
    return 0
  }
  const effective = await loadConfig({ env, cwd, overrides: line.values(OPTIONS.config) })
  if (action === 'get') {
    const name = keyNamed(key)
    out.say(isJson ? toJson(plain(effective, name)) : textOf(effective, name))
  } else if (isJson) out.say(toJson(Object.fromEntries(KEY_NAMES.map(name => [name, plain(effective, name)]))))
  else for (const text of asTable(effective, out.isTerminal ? out.width : Number.POSITIVE_INFINITY)) out.say(text)
  return 0
}

function keyNamed(key: string | undefined): KeyName {
  if (key === undefined) throw refusal('usage', 'config get needs a key', `the keys are ${KEY_NAMES.join(', ')}`)
  if (!isKeyName(key)) throw unknownKey(key, 'oneshot config get')
  return key
}

function describeFiles(env: NodeJS.ProcessEnv, cwd: string): { kind: string; path: string; exists: boolean }[] {
  const { user, project } = locateFiles(env, cwd)
  const files = [{ kind: 'user', path: user, exists: fs.existsSync(user) }]
  return project === null ? files : [...files, { kind: 'project', path: project, exists: true }]
}

/** Durations are told in the notation of the files, so that they can be copied into one. */
function textOf(effective: Config, key: KeyName): string {
  return showValue(key, effective[key].value)
}

function plain(effective: Config, key: KeyName): Setting<unknown> {
  const { value, origin, where } = effective[key]
  return { value: typeof value === 'boolean' ? value : textOf(effective, key) || null, origin, where }
}

function asTable(effective: Config, width: number): string[] {
  const columns = [
    { header: 'KEY', text: (key: KeyName) => key },
    { header: 'VALUE', text: (key: KeyName) => textOf(effective, key) || '-' },
    { header: 'FROM', text: (key: KeyName) => originOf(effective[key]) },
  ]
  return renderTable(columns, KEY_NAMES, { headers: true, width })
}

function originOf({ origin, where }: Setting<unknown>): string {
  return where === null || where === '-c' ? origin : `${origin}: ${where}`
}
