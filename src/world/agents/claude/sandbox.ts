import path from 'node:path'
import { jsonInFile } from '../disk.ts'
import { json } from '../json.ts'
import { configFolder } from './folder.ts'

/**
 * Whether claude takes this machine for a sandbox. 2.1.197 and 2.1.325 know `IS_SANDBOX` only as `1`, and read it from the
 * user's own settings too; bubblewrap's word may be any that means yes.
 */
export function isDeclaredSandbox(env: Readonly<Record<string, string>>): boolean {
  if (env['IS_SANDBOX'] === '1' || /^(1|true|yes|on)$/i.test(env['CLAUDE_CODE_BUBBLEWRAP'] ?? '')) return true
  const settings = jsonInFile(path.join(configFolder(env), 'settings.json'))
  return json(settings?.['env'])['IS_SANDBOX'] === '1'
}
