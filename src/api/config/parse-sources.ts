import { didYouMean } from '../../lib/text/did-you-mean.ts'
import type { Refusal } from '../../lib/errors.ts'
import { refusal } from '../contract/problems.ts'
import { isKeyName, KEY_NAMES, KEYS, type KeyName } from './keys.ts'

/** The kinds of sources, from the strongest to the weakest. */
export type Origin = 'option' | 'environment' | 'project' | 'user' | 'default'

/** The validated keys of one source. */
export interface Source {
  readonly origin: Origin
  readonly values: ReadonlyMap<KeyName, { readonly value: unknown; readonly where: string }>
}

/** Reads `-c key=value` options; the last one wins. */
export function readOverrides(overrides: readonly string[]): Source {
  const pairs = overrides.map(text => {
    const equals = text.indexOf('=')
    const key = equals < 0 ? text : text.slice(0, equals)
    if (equals < 0 && isKeyName(key)) {
      throw refusal('config-invalid', `-c ${key} sets no value`, `write -c ${key}=VALUE: ${KEYS[key].allowed}`)
    }
    return { key, value: text.slice(equals + 1), where: '-c' }
  })
  return collectSource('option', pairs)
}

/** Reads the variables; an empty variable counts as not set. */
export function readEnvironment(env: NodeJS.ProcessEnv): Source {
  const pairs = KEY_NAMES.flatMap(key => {
    const { variable } = KEYS[key]
    const value = env[variable]
    return value ? [{ key, value, where: variable }] : []
  })
  return collectSource('environment', pairs)
}

export function readTable(origin: Origin, where: string, table: Readonly<Record<string, unknown>>): Source {
  const pairs = Object.entries(table).map(([key, value]) => ({ key, value, where }))
  return collectSource(origin, pairs)
}

function isUserOnly(key: KeyName): boolean {
  return (KEYS[key] as { isPersonal?: boolean }).isPersonal === true
}

/** Refuses a key in a project's file: a clone alone must not make oneshot run commands or send anything. */
export function refuseProjectKey(key: string, where: string): Refusal {
  return refusal(
    'config-invalid',
    `${key} cannot be set in a project's file (${where}): it makes oneshot run or send something`,
    'if you want it, move it to your own file: oneshot config path',
  )
}

export function refuseUnknownKey(key: string, where: string): Refusal {
  const meant = didYouMean(key, KEY_NAMES)
  const hint = meant === undefined ? `the keys are ${KEY_NAMES.join(', ')}` : `did you mean ${meant}?`
  return refusal('config-invalid', `there is no config key ${JSON.stringify(key)} (${where})`, hint)
}

function collectSource(origin: Origin, pairs: readonly { key: string; value: unknown; where: string }[]): Source {
  const values = new Map<KeyName, { value: unknown; where: string }>()
  for (const { key, value, where } of pairs) {
    if (!isKeyName(key)) throw refuseUnknownKey(key, where)
    if (origin === 'project' && isUserOnly(key)) throw refuseProjectKey(key, where)
    const read = isScalar(value) ? KEYS[key].read(String(value)) : undefined
    if (read === undefined) throw refuseValue(key, value, where)
    values.set(key, { value: read, where })
  }
  return { origin, values }
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function refuseValue(key: KeyName, value: unknown, where: string): Refusal {
  const { allowed, choices } = KEYS[key]
  const meant = typeof value === 'string' ? didYouMean(value, choices ?? []) : undefined
  const name = where === KEYS[key].variable ? where : `${key} (${where})`
  return refusal(
    'config-invalid',
    `${name} cannot be ${JSON.stringify(value)}: it must be ${allowed}`,
    meant === undefined ? 'oneshot help config describes the keys' : `did you mean ${meant}?`,
  )
}
