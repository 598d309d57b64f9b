import { isTaskName } from '../../core/session/session-id-and-name.ts'
import { formatCommandLine, splitShellWords } from '../../lib/text/shell-words.ts'
import { type Duration, parseDuration } from '../../lib/time.ts'
import { AGENT_KINDS } from '../contract/known-agents.ts'
import { type Key, showDuration, smallerLimit } from './key-definition.ts'
import { CHECKPOINT_KEYS } from './checkpoint-keys.ts'
import { SUPERVISION_KEYS } from './supervision-keys.ts'
import { slugify } from '../../lib/text/slug.ts'
import { refusal } from '../contract/problems.ts'

const AGENT: Key<string | null> = {
  variable: 'ONESHOT_AGENT',
  fallback: null,
  summary: 'the agent that gets prompts; the first one found on PATH unless set',
  allowed: `one of ${AGENT_KINDS.join(', ')}`,
  choices: AGENT_KINDS,
  read: text => AGENT_KINDS.find(kind => kind === text),
  show: value => value ?? '',
}

export const AUTONOMY_LEVELS = ['full', 'edits', 'ask'] as const

const AUTONOMY: Key<(typeof AUTONOMY_LEVELS)[number]> = {
  variable: 'ONESHOT_AUTONOMY',
  fallback: 'full',
  summary: 'what an agent may do unasked: full, anything; edits, change files; ask, only look',
  allowed: `one of ${AUTONOMY_LEVELS.join(', ')}`,
  choices: AUTONOMY_LEVELS,
  withProject: (own, project) => (AUTONOMY_LEVELS.indexOf(project) > AUTONOMY_LEVELS.indexOf(own) ? project : own),
  read: text => AUTONOMY_LEVELS.find(level => level === text),
  show: String,
}

const RESILIENT: Key<boolean> = {
  variable: 'ONESHOT_RESILIENT',
  fallback: true,
  summary: 'false runs the agent directly in this terminal, without any supervision',
  allowed: 'true or false',
  choices: ['true', 'false'],
  withProject: (own, project) => own || project,
  read: readBoolean,
  show: String,
}

const PROJECT_FILES: Key<boolean> = {
  variable: 'ONESHOT_PROJECT_FILES',
  fallback: true,
  summary: 'false keeps the files about a session (.agent/) out of its project',
  allowed: 'true or false',
  choices: ['true', 'false'],
  withProject: (own, project) => own && project,
  read: readBoolean,
  show: String,
}

const BEADS: Key<boolean> = {
  variable: 'ONESHOT_BEADS',
  fallback: false,
  summary: 'true runs bd in projects that have .beads, to show and close their issues; bd runs hooks of the project',
  allowed: 'true or false',
  choices: ['true', 'false'],
  isPersonal: true,
  read: readBoolean,
  show: String,
}

const NAME: Key<string | null> = {
  variable: 'ONESHOT_TMUX_SESSION',
  fallback: null,
  summary: 'the name of sessions that get none; made from the prompt unless set',
  allowed: 'lower-case letters, digits and hyphens, at most 63, no hyphen at either end',
  read: text => (isTaskName(text) ? text : undefined),
  show: value => value ?? '',
}

const MAX_TIME: Key<Duration | null> = {
  variable: 'ONESHOT_MAX_TIME',
  fallback: 5 * 3_600_000,
  summary: 'work that takes longer is stopped',
  allowed: 'a duration such as 90s, 30m or 5h, or none',
  withProject: smallerLimit,
  read: text => (text === 'none' || parseDuration(text) === 0 ? null : parseDuration(text)),
  show: value => (value === null ? 'none' : showDuration(value)),
}

const ON_EXIT: Key<readonly string[] | null> = {
  variable: 'ONESHOT_ON_EXIT',
  fallback: null,
  summary: 'a command to run whenever a session has ended, without a shell',
  allowed: 'a command whose quotes are closed, or nothing',
  isPersonal: true,
  read: text => {
    const words = splitShellWords(text)
    return words?.length === 0 ? null : words
  },
  show: value => (value === null ? '' : formatCommandLine(value)),
}

const ON_EXIT_SHELL: Key<string | null> = {
  variable: 'ONESHOT_ON_EXIT_SHELL',
  fallback: null,
  summary: 'the same, as a line for sh',
  allowed: 'a line for sh -c, or nothing',
  isPersonal: true,
  read: text => (text.trim() === '' ? null : text),
  show: value => value ?? '',
}

const NOTIFY_RESTARTS: Key<number> = {
  variable: 'ONESHOT_NOTIFY_RESTARTS',
  fallback: 3,
  summary: 'more restarts than this within an hour send a notification',
  allowed: 'a whole number from 1 on',
  withProject: Math.min,
  read: text => (/^[1-9]\d{0,5}$/.test(text) ? Number(text) : undefined),
  show: String,
}

export const KEYS = {
  agent: AGENT,
  autonomy: AUTONOMY,
  resilient: RESILIENT,
  ...CHECKPOINT_KEYS,
  'project-files': PROJECT_FILES,
  beads: BEADS,
  name: NAME,
  'max-time': MAX_TIME,
  ...SUPERVISION_KEYS,
  'on-exit': ON_EXIT,
  'on-exit-shell': ON_EXIT_SHELL,
  'notify-restarts': NOTIFY_RESTARTS,
} as const

export type KeyName = keyof typeof KEYS

export type ValueOf<K extends KeyName> = (typeof KEYS)[K]['fallback']

export const KEY_NAMES = Object.keys(KEYS) as readonly KeyName[]

export function isKeyName(text: string): text is KeyName {
  return Object.hasOwn(KEYS, text)
}

/** Returns a value in the syntax of a config file; empty for a value that is not set. */
export function showValue(key: KeyName, value: unknown): string {
  return (KEYS[key] as Key<unknown>).show(value)
}

function readBoolean(text: string): boolean | undefined {
  if (/^(true|yes|on|1)$/i.test(text)) return true
  return /^(false|no|off|0)$/i.test(text) ? false : undefined
}

/** Refuses an invalid name, and suggests the nearest valid one. */
export function assertTaskName(name: string, command = '--name'): void {
  if (isTaskName(name)) return
  throw refusal(
    'name-invalid',
    `${JSON.stringify(name)} cannot be a name: lower-case letters, digits and hyphens only, at most 63, no hyphen at either end`,
    `try ${command} ${slugify(name, 'my-task')}`,
  )
}
