import fs from 'node:fs'
import path from 'node:path'
import { describeChannel } from '../../api/config/resolve-channel-address.ts'
import { type ChannelEntry, loadChannels } from '../../api/config/channels.ts'
import { locateFiles } from '../../api/config/config-files.ts'
import { isKeyName, KEY_NAMES, KEYS, type KeyName, showValue } from '../../api/config/keys.ts'
import { type Config, loadConfig, type Setting } from '../../api/config/load-config.ts'
import { refuseUnknownKey } from '../../api/config/parse-sources.ts'
import { writeUserKey } from '../../api/config/config-files.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import { openInEditor } from '../terminal/open-in-editor.ts'
import { renderTable } from '../terminal/table.ts'
import { type Command, type CommandContext, currentDirectory } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { choiceType, textType } from '../args/value-types.ts'

const CONFIG_ACTIONS = ['list', 'get', 'set', 'unset', 'edit', 'path'] as const

export const command: Command = {
  name: 'config',
  group: 'Set-up',
  order: 10,
  summary: 'show and change the configuration',
  about: `Without an action it shows every key with its value and where that comes from. set and
unset change your own file, edit opens it in $VISUAL or $EDITOR. See oneshot help config
for the keys and the files.`,
  arguments: [
    { valueType: choiceType('ACTION', CONFIG_ACTIONS), summary: `${CONFIG_ACTIONS.join(', ')}; list unless given` },
    { valueType: textType('KEY', 'config-keys'), summary: 'the key to get, set or unset' },
    { valueType: textType('VALUE'), summary: 'its new value' },
  ],
  options: [OPTIONS.json],
  examples: [
    { argv: ['config'], description: 'all keys with their origin' },
    { argv: ['config', 'get', 'agent'], description: 'one value' },
    { argv: ['config', 'set', 'autonomy', 'edits'], description: 'in your own file' },
    { argv: ['config', 'path'], description: 'the files that are read' },
  ],
  run: config,
}

async function config(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { env, screen } = context
  const { out } = screen
  const [action = 'list', key, value] = args.positionals
  const isJson = args.has(OPTIONS.json)
  if (key !== undefined && !ACTIONS_WITH_KEY.includes(action))
    throw refusal('usage', `config ${action} takes no key`, `oneshot config get ${key}`)
  if (action === 'set' || action === 'unset') {
    const name = requireKey(key, action)
    if (action === 'set' && value === undefined)
      throw refusal(
        'usage',
        `config set ${name} needs a value: ${KEYS[name].allowed}`,
        `oneshot config set ${name} VALUE`,
      )
  }
  if (value !== undefined && action !== 'set')
    throw refusal('usage', `config ${action} takes no value`, `oneshot config set ${key} ${value}`)
  const cwd = currentDirectory(context)
  if (action === 'path') {
    const files = describeFiles(env, cwd)
    if (isJson) out.printLine(toJson(files))
    else for (const { kind, path, exists } of files) out.printLine(`${kind}  ${path}${exists ? '' : '  (absent)'}`)
    return 0
  }
  if (action === 'edit') return await editConfig(context)
  if (action === 'set' || action === 'unset') {
    const name = requireKey(key, action)
    const file = await writeUserKey(env, name, action === 'set' ? (value ?? '') : null)
    const now = (await loadConfig({ env, cwd, overrides: [] }))[name]
    if (isJson)
      out.printLine(
        toJson({
          value: typeof now.value === 'boolean' ? now.value : showValue(name, now.value) || null,
          origin: now.origin,
          where: now.where,
        }),
      )
    else if (!screen.isQuiet) printChange({ name, file, action, now }, screen)
    return 0
  }
  const effective = await loadConfig({ env, cwd, overrides: args.values(OPTIONS.config) })
  if (action === 'get') {
    const name = requireKey(key, action)
    out.printLine(isJson ? toJson(jsonSetting(effective, name)) : settingText(effective, name))
    return 0
  }
  const channels = await loadChannels(env)
  const { user } = locateFiles(env, cwd)
  if (isJson) {
    const keys = Object.fromEntries(KEY_NAMES.map(name => [name, jsonSetting(effective, name)]))
    out.printLine(toJson({ ...keys, ...Object.fromEntries(channels.map(entry => channelSetting(entry, user))) }))
  } else {
    const width = out.isTerminal ? out.width : Number.POSITIVE_INFINITY
    for (const text of settingsTable(
      effective,
      channels.map(entry => channelSetting(entry, user)),
      width,
    ))
      out.printLine(text)
  }
  return 0
}

/** Describes a channel in one line and hides its secrets. */
function channelSetting(entry: ChannelEntry, where: string): [string, Setting<string>] {
  const rest = Object.entries(describeChannel(entry)).map(([key, value]) => `${key}=${value}`)
  return [`notify.${entry.name}`, { value: [entry.type, ...rest].join(' '), origin: 'user', where }]
}

const ACTIONS_WITH_KEY: readonly string[] = ['get', 'set', 'unset']

/** Prints the change, and a note if another source overrides the file. */
function printChange(
  { name, file, action, now }: { name: KeyName; file: string; action: string; now: Setting<unknown> },
  { out, err }: CommandContext['screen'],
): void {
  out.printLine(`${name} is ${action === 'set' ? 'set' : 'not set'} in ${file}`)
  const isOverridden = now.origin === 'environment' || now.origin === 'project'
  if (isOverridden) err.printLine(`${err.paint.yellow('note:')} here ${now.where ?? now.origin} overrules it`)
}

function requireKey(key: string | undefined, action: string): KeyName {
  if (key === undefined) throw refusal('usage', `config ${action} needs a key`, `the keys are ${KEY_NAMES.join(', ')}`)
  if (!isKeyName(key)) throw refuseUnknownKey(key, `oneshot config ${action}`)
  return key
}

function describeFiles(env: NodeJS.ProcessEnv, cwd: string): { kind: string; path: string; exists: boolean }[] {
  const { user, project } = locateFiles(env, cwd)
  const files = [{ kind: 'user', path: user, exists: fs.existsSync(user) }]
  return project === null ? files : [...files, { kind: 'project', path: project, exists: true }]
}

/** Prints durations in the notation of the files, so that the user can copy them into one. */
function settingText(effective: Config, key: KeyName): string {
  return showValue(key, effective[key].value)
}

function jsonSetting(effective: Config, key: KeyName): Setting<unknown> {
  const { value, origin, where } = effective[key]
  return { value: typeof value === 'boolean' ? value : settingText(effective, key) || null, origin, where }
}

function settingsTable(
  effective: Config,
  channels: readonly (readonly [string, Setting<string>])[],
  width: number,
): string[] {
  const keys = KEY_NAMES.map(key => [key, settingText(effective, key), effective[key]] as const)
  const channelRows = channels.map(([name, setting]) => [name, setting.value, setting] as const)
  const columns = [
    { header: 'KEY', text: ([key]: SettingRow) => key },
    { header: 'VALUE', text: ([, value]: SettingRow) => value || '-' },
    { header: 'FROM', text: ([, , setting]: SettingRow) => describeOrigin(setting) },
  ]
  return renderTable<SettingRow>(columns, [...keys, ...channelRows], { headers: true, width })
}

type SettingRow = readonly [key: string, value: string, setting: Setting<unknown>]

function describeOrigin({ origin, where }: Setting<unknown>): string {
  return where === null || where === '-c' ? origin : `${origin}: ${where}`
}

/** Opens the user's configuration file, and refuses with a sentence when it is invalid afterwards. */
async function editConfig(context: CommandContext): Promise<number> {
  const { env, screen } = context
  if (!screen.input.isTerminal || !screen.out.isTerminal)
    throw refusal('not-a-terminal', 'config edit needs a terminal', 'oneshot config set KEY VALUE')
  const { user } = locateFiles(env, '/')
  fs.mkdirSync(path.dirname(user), { recursive: true, mode: 0o700 })
  // Creates the file here, so that only its owner can read a token in it.
  if (!fs.existsSync(user)) fs.writeFileSync(user, '# Keys: oneshot help config\n', { mode: 0o600, flag: 'wx' })
  await openInEditor(user, context)
  await loadConfig({ env, cwd: '/', overrides: [] })
  return 0
}
