import { spawn } from 'node:child_process'
import { refusal } from '../../api/contract/problems.ts'
import { splitShellWords } from '../../lib/text/shell-words.ts'
import { hasCode, NOT_FOUND } from '../../lib/errors.ts'
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
    child.on('error', cause => reject(hasCode(cause, ...NOT_FOUND) ? editorMissing(program) : cause))
    child.on('exit', resolve)
    signals.on('SIGINT', ignore) // Ctrl-C is for the editor.
  }).finally(() => signals.off('SIGINT', ignore))
  if (code !== 0) throw refusal('world-failed', `the editor ${program} failed`, 'set VISUAL or EDITOR to another one')
}

const ignore = (): void => undefined

function editorMissing(program: string): Error {
  return refusal('program-missing', `the editor ${program} was not found`, 'set VISUAL or EDITOR to yours')
}
