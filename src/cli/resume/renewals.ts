import { refusal } from '../../api/contract/problems.ts'
import type { Line } from '../line/line.ts'
import { OPTIONS } from '../table/options.ts'

/** The variables that are to be different from now on. */
export function renewals(line: Line, env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(line.values(OPTIONS.renew).map(([key, value]) => [key, value ?? ownValue(key, env)]))
}

function ownValue(key: string, env: NodeJS.ProcessEnv): string {
  const value = env[key]
  if (value !== undefined) return value
  throw refusal('usage', `${key} is not set here`, `export ${key}, or give it as ${key}=VALUE`)
}
