import { type Duration, parseDuration } from '../../lib/time.ts'
import { type Key, showDuration } from './key-definition.ts'

export const CHECKPOINT_MODES = ['ref', 'branch', 'off'] as const

const CHECKPOINTS: Key<(typeof CHECKPOINT_MODES)[number]> = {
  variable: 'ONESHOT_CHECKPOINTS',
  fallback: 'ref',
  summary: 'where checkpoints are saved: ref, hidden in git; branch, also as commits on your branch; off',
  allowed: `one of ${CHECKPOINT_MODES.join(', ')}`,
  choices: CHECKPOINT_MODES,
  withProject: (own, project) => (project === 'off' ? own : project),
  read: text => CHECKPOINT_MODES.find(mode => mode === text),
  show: String,
}

const CHECKPOINT_INTERVAL: Key<Duration> = {
  variable: 'ONESHOT_CHECKPOINT_INTERVAL',
  fallback: 300_000,
  summary: 'how often the working tree is saved while an agent works and files change',
  allowed: 'a duration of at least 1s, such as 90s or 5m; a bare number means seconds',
  withProject: Math.min,
  read: text => atLeastOneSecond(parseDuration(text)),
  show: showDuration,
}

const CHECKPOINT_PUSH: Key<string | null> = {
  variable: 'ONESHOT_CHECKPOINT_PUSH',
  fallback: null,
  summary: 'the git remote to which checkpoints are pushed, such as origin; none unless set',
  allowed: 'the name of a git remote, or none',
  isPersonal: true,
  read: text => (text === 'none' || text === '' ? null : isRemote(text) ? text : undefined),
  show: value => value ?? 'none',
}

const NESTED: Key<boolean> = {
  variable: 'ONESHOT_NESTED',
  fallback: false,
  summary: 'true also saves other repositories inside the working tree; git runs in them',
  allowed: 'true or false',
  isPersonal: true,
  read: text => (text === 'true' ? true : text === 'false' ? false : undefined),
  show: String,
}

/** Keys that control checkpoints. */
export const CHECKPOINT_KEYS = {
  checkpoints: CHECKPOINTS,
  'checkpoint-interval': CHECKPOINT_INTERVAL,
  'checkpoint-push': CHECKPOINT_PUSH,
  nested: NESTED,
} as const

/** Accepts a name or an address that git cannot take for an option. */
function isRemote(text: string): boolean {
  return !text.startsWith('-') && !/[\0\n]/.test(text)
}

function atLeastOneSecond(duration: Duration | undefined): Duration | undefined {
  return duration === undefined || duration < 1000 ? undefined : duration
}
