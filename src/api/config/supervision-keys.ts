import { DEFAULT_TIMINGS } from '../../core/session/supervisor-timings.ts'
import { MAX_STOP_GRACE } from '../../core/session/supervision-options.ts'
import { formatBytes, parseBytes } from '../../lib/bytes.ts'
import { type Duration, parseDuration } from '../../lib/time.ts'
import { type Key, smallerLimit, showDuration } from './key-definition.ts'

const MAX_RESTARTS: Key<number> = {
  variable: 'ONESHOT_MAX_RESTARTS',
  fallback: 10,
  summary: 'how many restarts within the restart window a session gets before it gives up',
  allowed: 'a whole number from 0 on',
  withProject: Math.min,
  read: text => (/^\d{1,6}$/.test(text) ? Number(text) : undefined),
  show: String,
}

const RESTART_WINDOW: Key<Duration> = {
  variable: 'ONESHOT_RESTART_WINDOW',
  fallback: 600_000,
  summary: 'the time in which max-restarts is counted',
  allowed: 'a duration of at least 1s, such as 10m or 1h',
  withProject: Math.max,
  read: text => atLeast(1_000, parseDuration(text)),
  show: showDuration,
}

const RESTART_DELAY: Key<Duration> = {
  variable: 'ONESHOT_RESTART_DELAY',
  fallback: 2_000,
  summary: 'the pause before the second restart in a row; it doubles each time; the first restart has none',
  allowed: 'a duration such as 500ms or 2s',
  withProject: Math.max,
  read: parseDuration,
  show: showDuration,
}

const RESTART_MAX_DELAY: Key<Duration> = {
  variable: 'ONESHOT_RESTART_MAX_DELAY',
  fallback: 64_000,
  summary: 'the longest pause before a restart',
  allowed: 'a duration such as 64s or 5m',
  withProject: Math.max,
  read: parseDuration,
  show: showDuration,
}

/** Stands for the agent's own silence limit. */
export const AGENT_DEFAULT = 'agent'

const SILENCE: Key<Duration | null | typeof AGENT_DEFAULT> = {
  variable: 'ONESHOT_SILENCE',
  fallback: AGENT_DEFAULT,
  summary:
    'without a sign of life for this long an agent is hung, and restarted; agent: 10m for claude, 15m for the others',
  allowed: 'a duration such as 20m, none, or agent',
  withProject: (own, project) =>
    smallerLimit(toDuration(own), toDuration(project)) === toDuration(own) ? own : project,
  read: text => (text === AGENT_DEFAULT ? text : text === 'none' ? null : atLeast(1_000, parseDuration(text))),
  show: value => (value === null ? 'none' : value === AGENT_DEFAULT ? value : showDuration(value)),
}

const LIMIT_WAIT: Key<Duration | null> = {
  variable: 'ONESHOT_LIMIT_WAIT',
  fallback: 86_400_000,
  summary: 'the longest wait for a usage limit; off ends the session instead, none waits for ever',
  allowed: 'a duration such as 6h, off, or none',
  withProject: smallerLimit,
  read: text => (text === 'none' ? null : text === 'off' ? 0 : parseDuration(text)),
  show: value => (value === null ? 'none' : value === 0 ? 'off' : showDuration(value)),
}

const RESUME_WITHIN: Key<Duration | null> = {
  variable: 'ONESHOT_RESUME_WITHIN',
  fallback: 3 * 86_400_000,
  summary: 'after a reboot, sessions that last worked longer ago than this wait for you; none: no session waits',
  allowed: 'a duration such as 12h or 3d, or none',
  withProject: smallerLimit,
  read: text => (text === 'none' ? null : parseDuration(text)),
  show: value => (value === null ? 'none' : showDuration(value)),
}

export const STOP_GRACE: Key<Duration> = {
  variable: 'ONESHOT_STOP_GRACE',
  fallback: DEFAULT_TIMINGS.interruptGrace,
  summary: 'how long an interrupted agent may clean up at a stop; then oneshot terminates it',
  allowed: 'a duration up to 10m, such as 0s or 30s',
  withProject: Math.min,
  read: text => atMost(MAX_STOP_GRACE, parseDuration(text)),
  show: showDuration,
}

const MEMORY: Key<number | null> = {
  variable: 'ONESHOT_MEMORY',
  fallback: null,
  summary: 'how much memory all processes of a session may use together; none for no limit',
  allowed: 'an amount such as 512M or 4G, or none',
  withProject: smallerLimit,
  read: text => (text === 'none' ? null : parseBytes(text)),
  show: value => (value === null ? 'none' : String(value)),
}

const MAX_OUTPUT: Key<number | null> = {
  variable: 'ONESHOT_MAX_OUTPUT',
  fallback: 1024 ** 3,
  summary: 'a session that writes more is stopped; none for no limit',
  allowed: 'an amount such as 200M or 2G, or none',
  withProject: smallerLimit,
  read: text => (text === 'none' ? null : parseBytes(text)),
  show: value => (value === null ? 'none' : formatBytes(value).replace(/ (.)B?$/, '$1')),
}

const KEEP_ENDED: Key<Duration | null> = {
  variable: 'ONESHOT_KEEP_ENDED',
  fallback: null,
  summary: 'the supervisor removes sessions and logs this long after their end, as clean does; none keeps them',
  allowed: 'a duration of at least 1h, such as 90d, or none',
  isPersonal: true,
  read: text => (text === 'none' ? null : atLeast(3_600_000, parseDuration(text))),
  show: value => (value === null ? 'none' : showDuration(value)),
}

/** Keys that control the supervision of sessions. */
export const SUPERVISION_KEYS = {
  'max-restarts': MAX_RESTARTS,
  'restart-window': RESTART_WINDOW,
  'restart-delay': RESTART_DELAY,
  'restart-max-delay': RESTART_MAX_DELAY,
  silence: SILENCE,
  'limit-wait': LIMIT_WAIT,
  'resume-within': RESUME_WITHIN,
  'stop-grace': STOP_GRACE,
  memory: MEMORY,
  'max-output': MAX_OUTPUT,
  'keep-ended': KEEP_ENDED,
} as const

/** Returns the duration for a comparison; no agent's own silence limit exceeds a quarter of an hour. */
function toDuration(value: Duration | null | typeof AGENT_DEFAULT): Duration | null {
  return value === AGENT_DEFAULT ? 900_000 : value
}

function atLeast(least: Duration, duration: Duration | undefined): Duration | undefined {
  return duration === undefined || duration < least ? undefined : duration
}

function atMost(most: Duration, duration: Duration | undefined): Duration | undefined {
  return duration === undefined || duration > most ? undefined : duration
}
