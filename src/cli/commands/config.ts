import fs from 'node:fs'
import { describeChannel } from '../../api/config/channel-address.ts'
import { type ChannelEntry, loadChannels } from '../../api/config/channels.ts'
import { locateFiles } from '../../api/config/files.ts'
import { isKeyName, KEY_NAMES, KEYS, type KeyName, showValue } from '../../api/config/keys.ts'
import { type Config, loadConfig, type Setting } from '../../api/config/load-config.ts'
import { unknownKey } from '../../api/config/sources.ts'
import { writeUserKey } from '../../api/config/write-user-file.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import { renderTable } from '../screen/table.ts'
import { here, type Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function config(line: Line, { env, screen }: Surroundings): Promise<number> {
  const { out } = screen
  const [action = 'list', key, value] = line.words
  const isJson = line.has(OPTIONS.json)
  if (key !== undefined && !TAKING_KEY.includes(action))
    throw refusal('usage', `config ${action} takes no key`, `oneshot config get ${key}`)
  if (action === 'set' || action === 'unset') {
    const name = keyNamed(key, action)
    if (action === 'set' && value === undefined)
      throw refusal(
        'usage',
        `config set ${name} needs a value: ${KEYS[name].allowed}`,
        `oneshot config set ${name} VALUE`,
      )
  }
  if (value !== undefined && action !== 'set')
    throw refusal('usage', `config ${action} takes no value`, `oneshot config set ${key} ${value}`)
  const cwd = here()
  if (action === 'path') {
    const files = describeFiles(env, cwd)
    if (isJson) out.say(toJson(files))
    else for (const { kind, path, exists } of files) out.say(`${kind}  ${path}${exists ? '' : '  (absent)'}`)
    return 0
  }
  if (action === 'edit') return await (await import('../config/edit.ts')).editConfig(env)
  if (action === 'set' || action === 'unset') {
    const name = keyNamed(key, action)
    const file = await writeUserKey(env, name, action === 'set' ? (value ?? '') : null)
    const now = (await loadConfig({ env, cwd, overrides: [] }))[name]
    if (isJson)
      out.say(
        toJson({
          value: typeof now.value === 'boolean' ? now.value : showValue(name, now.value) || null,
          origin: now.origin,
          where: now.where,
        }),
      )
    else if (!screen.isQuiet) sayChanged({ name, file, action, now }, screen)
    return 0
  }
  const effective = await loadConfig({ env, cwd, overrides: line.values(OPTIONS.config) })
  if (action === 'get') {
    const name = keyNamed(key, action)
    out.say(isJson ? toJson(plain(effective, name)) : textOf(effective, name))
    return 0
  }
  const channels = await loadChannels(env)
  const { user } = locateFiles(env, cwd)
  if (isJson) {
    const keys = Object.fromEntries(KEY_NAMES.map(name => [name, plain(effective, name)]))
    out.say(toJson({ ...keys, ...Object.fromEntries(channels.map(entry => channelSetting(entry, user))) }))
  } else {
    const width = out.isTerminal ? out.width : Number.POSITIVE_INFINITY
    for (const text of asTable(
      effective,
      channels.map(entry => channelSetting(entry, user)),
      width,
    ))
      out.say(text)
  }
  return 0
}

/** A channel as one line, its secrets hidden. */
function channelSetting(entry: ChannelEntry, where: string): [string, Setting<string>] {
  const rest = Object.entries(describeChannel(entry)).map(([key, value]) => `${key}=${value}`)
  return [`notify.${entry.name}`, { value: [entry.type, ...rest].join(' '), origin: 'user', where }]
}

const TAKING_KEY: readonly string[] = ['get', 'set', 'unset']

/** Says as well when another place overrules the file. */
function sayChanged(
  { name, file, action, now }: { name: KeyName; file: string; action: string; now: Setting<unknown> },
  { out, err }: Surroundings['screen'],
): void {
  out.say(`${name} is ${action === 'set' ? 'set' : 'not set'} in ${file}`)
  const isOverruled = now.origin === 'environment' || now.origin === 'project'
  if (isOverruled) err.say(`${err.paint.yellow('note:')} here ${now.where ?? now.origin} overrules it`)
}

function keyNamed(key: string | undefined, action: string): KeyName {
  if (key === undefined) throw refusal('usage', `config ${action} needs a key`, `the keys are ${KEY_NAMES.join(', ')}`)
  if (!isKeyName(key)) throw unknownKey(key, `oneshot config ${action}`)
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

function asTable(
  effective: Config,
  channels: readonly (readonly [string, Setting<string>])[],
  width: number,
): string[] {
  const keys = KEY_NAMES.map(key => [key, textOf(effective, key), effective[key]] as const)
  const more = channels.map(([name, setting]) => [name, setting.value, setting] as const)
  const columns = [
    { header: 'KEY', text: ([key]: Row) => key },
    { header: 'VALUE', text: ([, value]: Row) => value || '-' },
    { header: 'FROM', text: ([, , setting]: Row) => originOf(setting) },
  ]
  return renderTable<Row>(columns, [...keys, ...more], { headers: true, width })
}

type Row = readonly [key: string, value: string, setting: Setting<unknown>]

function originOf({ origin, where }: Setting<unknown>): string {
  return where === null || where === '-c' ? origin : `${origin}: ${where}`
}
