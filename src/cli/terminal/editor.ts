import { spawn } from 'node:child_process'
import { refusal } from '../../api/contract/problems.ts'
import { splitShellWords } from '../../lib/text/shell-words.ts'
import { hasCode } from '../../lib/errors.ts'
import fs from 'node:fs'
import path from 'node:path'
import { locateFiles } from '../../api/config/files.ts'
import { loadConfig } from '../../api/config/load-config.ts'
import type { CommandContext } from '../context.ts'

/** Opens a file in the user's editor and waits until the editor has exited. */
export async function openInEditor(
  file: string,
  { env, screen: { signals } }: Pick<CommandContext, 'env' | 'screen'>,
): Promise<void> {
  const chosen = env['VISUAL'] || env['EDITOR'] || 'vi'
  const [program = 'vi', ...args] = splitShellWords(chosen) ?? []
  const code = await new Promise<number | null>((resolve, reject) => {
    const child = spawn(program, [...args, file], { stdio: 'inherit', env })
    child.on('error', cause => reject(hasCode(cause, 'ENOENT') ? editorMissing(program) : cause))
    child.on('exit', resolve)
    signals.on('SIGINT', ignore) // Ctrl-C is for the editor.
  }).finally(() => signals.off('SIGINT', ignore))
  if (code !== 0) throw refusal('world-failed', `the editor ${program} failed`, 'set VISUAL or EDITOR to another one')
}

const ignore = (): void => undefined

function editorMissing(program: string): Error {
  return refusal('program-missing', `the editor ${program} was not found`, 'set VISUAL or EDITOR to yours')
}

/** Opens the user's configuration file, and refuses with a sentence when it is invalid afterwards. */
export async function editConfig(context: CommandContext): Promise<number> {
  const { env, screen } = context
  if (!screen.input.isTerminal || !screen.out.isTerminal)
    throw refusal('not-a-terminal', 'config edit needs a terminal', 'oneshot config set KEY VALUE')
  const { user } = locateFiles(env, '/')
  fs.mkdirSync(path.dirname(user), { recursive: true, mode: 0o700 })
  // Creates the file here, so that only its owner can read a token in it.
  if (!fs.existsSync(user)) fs.writeFileSync(user, '# Keys: oneshot help config\n', { mode: 0o600, flag: 'wx' })
  await openInEditor(user, context)
  await loadConfig({ env, cwd: '/', overrides: [] })
  return 0
}
