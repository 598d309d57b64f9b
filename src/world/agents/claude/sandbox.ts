import fs from 'node:fs'
import path from 'node:path'
import { configFolder } from './folder.ts'
import { json, jsonIn } from '../json.ts'

/**
 * Whether claude takes this machine for a sandbox. 2.1.197 and 2.1.325 know `IS_SANDBOX` only as `1`, and read it from the
 * user's own settings too; bubblewrap's word may be any that means yes.
 */
export function isDeclaredSandbox(env: Readonly<Record<string, string>>): boolean {
  if (env['IS_SANDBOX'] === '1' || /^(1|true|yes|on)$/i.test(env['CLAUDE_CODE_BUBBLEWRAP'] ?? '')) return true
  return json(settingsOf(env)['env'])['IS_SANDBOX'] === '1'
}

function settingsOf(env: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  try {
    return jsonIn(fs.readFileSync(path.join(configFolder(env), 'settings.json'), 'utf8')) ?? {}
  } catch {
    return {} // Not there, or not readable: then it declares nothing.
  }
}
