import type { Config } from '../../api/config/load-config.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { Line } from '../line/line.ts'
import { OPTIONS } from '../table/options.ts'

/** What is to be run when the work has ended: as the line says, else as the configuration does. */
export function onExitOf(line: Line, config: Config): readonly string[] | undefined {
  const words = line.value(OPTIONS.onExit)
  const shell = line.value(OPTIONS.onExitShell)
  if (words !== undefined || shell !== undefined) return chosen(words ?? null, shell ?? null, '--')
  if (!config.resilient.value) return undefined // Nobody sees it end.
  return chosen(config['on-exit'].value, config['on-exit-shell'].value, '')
}

function chosen(words: readonly string[] | null, shell: string | null, dashes: string): readonly string[] | undefined {
  const hasShell = shell !== null && shell.trim() !== ''
  if (words !== null && words.length > 0 && hasShell) {
    throw refusal('usage', `${dashes}on-exit and ${dashes}on-exit-shell exclude each other`, 'give one of them')
  }
  if (hasShell) return ['sh', '-c', shell]
  return words === null || words.length === 0 ? undefined : words
}
