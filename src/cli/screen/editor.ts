import { spawn } from 'node:child_process'
import { refusal } from '../../api/contract/problems.ts'
import { splitWords } from '../../lib/split-words.ts'
import { hasCode } from '../../lib/trouble.ts'

/** Opens a file in the user's editor and waits until that has ended. */
export async function openInEditor(file: string, env: NodeJS.ProcessEnv): Promise<void> {
  const chosen = env['VISUAL'] || env['EDITOR'] || 'vi'
  const [program = 'vi', ...args] = splitWords(chosen) ?? []
  const code = await new Promise<number | null>((resolve, reject) => {
    const child = spawn(program, [...args, file], { stdio: 'inherit' })
    child.on('error', cause => reject(hasCode(cause, 'ENOENT') ? missing(program) : cause))
    child.on('exit', resolve)
    process.on('SIGINT', ignore) // Ctrl-C is for the editor.
  }).finally(() => process.off('SIGINT', ignore))
  if (code !== 0) throw refusal('world-failed', `the editor ${program} failed`, 'set VISUAL or EDITOR to another one')
}

const ignore = (): void => undefined

function missing(program: string): Error {
  return refusal('program-missing', `the editor ${program} was not found`, 'set VISUAL or EDITOR to yours')
}
