import { readChannels } from './channels.ts'
import { locateFiles, readProjectFile, readUserFile } from './config-files.ts'
import type { Key } from './key-definition.ts'
import { KEYS, type KeyName, type ValueOf } from './keys.ts'
import {
  refuseProjectKey,
  type Origin,
  readEnvironment,
  readOverrides,
  readTable,
  type Source,
} from './parse-sources.ts'

export interface Setting<T> {
  readonly value: T
  readonly origin: Origin
  /** The variable or file that sets it; null for a default. */
  readonly where: string | null
}

export type Config = { readonly [K in KeyName]: Setting<ValueOf<K>> }

/** Loads the effective configuration. Validates every source completely, even if a stronger one overrides it. */
export async function loadConfig(from: {
  env: NodeJS.ProcessEnv
  cwd: string
  overrides: readonly string[]
  /** Ignores the project's file, because it belongs to somebody else. */
  withoutProject?: boolean
}): Promise<Config> {
  const { env, cwd, overrides, withoutProject = false } = from
  const { user, project } = locateFiles(env, cwd)
  const strongestFirst = [readOverrides(overrides), readEnvironment(env)]
  if (project !== null && !withoutProject) {
    const projectTable = await readProjectFile(project)
    if ('notify' in projectTable) throw refuseProjectKey('notify', project)
    strongestFirst.push(readTable('project', project, projectTable))
  }
  const userTable = await readUserFile(env)
  if (userTable !== null) {
    const { notify, ...keys } = userTable
    readChannels(notify, user)
    strongestFirst.push(readTable('user', user, keys))
  }
  return {
    agent: resolveSetting('agent', strongestFirst),
    autonomy: resolveSetting('autonomy', strongestFirst),
    resilient: resolveSetting('resilient', strongestFirst),
    checkpoints: resolveSetting('checkpoints', strongestFirst),
    'checkpoint-push': resolveSetting('checkpoint-push', strongestFirst),
    nested: resolveSetting('nested', strongestFirst),
    'checkpoint-interval': resolveSetting('checkpoint-interval', strongestFirst),
    'project-files': resolveSetting('project-files', strongestFirst),
    beads: resolveSetting('beads', strongestFirst),
    name: resolveSetting('name', strongestFirst),
    'max-time': resolveSetting('max-time', strongestFirst),
    'max-restarts': resolveSetting('max-restarts', strongestFirst),
    'restart-window': resolveSetting('restart-window', strongestFirst),
    'restart-delay': resolveSetting('restart-delay', strongestFirst),
    'restart-max-delay': resolveSetting('restart-max-delay', strongestFirst),
    silence: resolveSetting('silence', strongestFirst),
    'limit-wait': resolveSetting('limit-wait', strongestFirst),
    'resume-within': resolveSetting('resume-within', strongestFirst),
    'stop-grace': resolveSetting('stop-grace', strongestFirst),
    memory: resolveSetting('memory', strongestFirst),
    'max-output': resolveSetting('max-output', strongestFirst),
    'keep-ended': resolveSetting('keep-ended', strongestFirst),
    'on-exit': resolveSetting('on-exit', strongestFirst),
    'on-exit-shell': resolveSetting('on-exit-shell', strongestFirst),
    'notify-restarts': resolveSetting('notify-restarts', strongestFirst),
  }
}

function resolveSetting<K extends KeyName>(key: K, [strongest, ...weaker]: readonly Source[]): Setting<ValueOf<K>> {
  if (strongest === undefined) return { value: KEYS[key].fallback, origin: 'default', where: null }
  const set = strongest.values.get(key)
  if (set === undefined) return resolveSetting(key, weaker)
  const { origin } = strongest
  const setting = { value: set.value as ValueOf<K>, origin, where: set.where }
  const { withProject } = KEYS[key] as Key<ValueOf<K>>
  if (origin !== 'project' || withProject === undefined) return setting
  const own = resolveSetting(key, weaker)
  return withProject(own.value, setting.value) === own.value ? own : setting
}
