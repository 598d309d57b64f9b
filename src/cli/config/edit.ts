import fs from 'node:fs'
import path from 'node:path'
import { locateFiles } from '../../api/config/files.ts'
import { loadConfig } from '../../api/config/load-config.ts'
import { refusal } from '../../api/contract/problems.ts'
import { openInEditor } from '../screen/editor.ts'
import { isTerminal } from '../screen/is-terminal.ts'

/** Opens the user's own file, and refuses in a sentence when it is not valid afterwards. */
export async function editConfig(env: NodeJS.ProcessEnv): Promise<number> {
  if (!isTerminal(0) || !isTerminal(1))
    throw refusal('not-a-terminal', 'config edit needs a terminal', 'oneshot config set KEY VALUE')
  const { user } = locateFiles(env, '/')
  fs.mkdirSync(path.dirname(user), { recursive: true, mode: 0o700 })
  // Created here, so that only its owner can read what may become a token.
  if (!fs.existsSync(user)) fs.writeFileSync(user, '# Keys: oneshot help config\n', { mode: 0o600, flag: 'wx' })
  await openInEditor(user, env)
  await loadConfig({ env, cwd: '/', overrides: [] })
  return 0
}
