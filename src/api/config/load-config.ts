import { readChannels } from './channels.ts'
import { locateFiles, readProjectFile, readUserFile } from './files.ts'
import type { Key } from './key.ts'
import { KEYS, type KeyName, type ValueOf } from './keys.ts'
import { notForProjects, type Origin, readEnvironment, readOverrides, readTable, type Source } from './sources.ts'

export interface Setting<T> {
  readonly value: T
  readonly origin: Origin
  /** The variable or file it was set in; null for a default. */
  readonly where: string | null
}

export type Config = { readonly [K in KeyName]: Setting<ValueOf<K>> }

/** The effective configuration. Every source is checked in full, even where a stronger one overrules it. */
export async function loadConfig(from: {
  env: NodeJS.ProcessEnv
  cwd: string
  overrides: readonly string[]
  /** The project's file is somebody else's, and must have no say. */
  withoutProject?: boolean
}): Promise<Config> {
  const { env, cwd, overrides, withoutProject = false } = from
  const { user, project } = locateFiles(env, cwd)
  const strongestFirst = [readOverrides(overrides), readEnvironment(env)]
  if (project !== null && !withoutProject) {
    const projectTable = await readProjectFile(project)
    if ('notify' in projectTable) throw notForProjects('notify', project)
    strongestFirst.push(readTable('project', project, projectTable))
  }
  const userTable = await readUserFile(env)
  if (userTable !== null) {
    const { notify, ...keys } = userTable
    readChannels(notify, user)
    strongestFirst.push(readTable('user', user, keys))
  }
  return {
    agent: settle('agent', strongestFirst),
    autonomy: settle('autonomy', strongestFirst),
    resilient: settle('resilient', strongestFirst),
    checkpoints: settle('checkpoints', strongestFirst),
    'checkpoint-push': settle('checkpoint-push', strongestFirst),
    nested: settle('nested', strongestFirst),
    'checkpoint-interval': settle('checkpoint-interval', strongestFirst),
    'project-files': settle('project-files', strongestFirst),
    beads: settle('beads', strongestFirst),
    name: settle('name', strongestFirst),
    'max-time': settle('max-time', strongestFirst),
    'max-restarts': settle('max-restarts', strongestFirst),
    'restart-window': settle('restart-window', strongestFirst),
    'restart-delay': settle('restart-delay', strongestFirst),
    'restart-max-delay': settle('restart-max-delay', strongestFirst),
    silence: settle('silence', strongestFirst),
    'limit-wait': settle('limit-wait', strongestFirst),
    'resume-within': settle('resume-within', strongestFirst),
    memory: settle('memory', strongestFirst),
    'max-output': settle('max-output', strongestFirst),
    'on-exit': settle('on-exit', strongestFirst),
    'on-exit-shell': settle('on-exit-shell', strongestFirst),
    'notify-restarts': settle('notify-restarts', strongestFirst),
  }
}

function settle<K extends KeyName>(key: K, [strongest, ...weaker]: readonly Source[]): Setting<ValueOf<K>> {
  if (strongest === undefined) return { value: KEYS[key].fallback, origin: 'default', where: null }
  const set = strongest.values.get(key)
  if (set === undefined) return settle(key, weaker)
  const { origin } = strongest
  const setting = { value: set.value as ValueOf<K>, origin, where: set.where }
  const { withProject } = KEYS[key] as Key<ValueOf<K>>
  if (origin !== 'project' || withProject === undefined) return setting
  const own = settle(key, weaker)
  return withProject(own.value, setting.value) === own.value ? own : setting
}
