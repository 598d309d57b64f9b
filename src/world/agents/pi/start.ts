import fs from 'node:fs'
import path from 'node:path'
import { readPart } from '../../os/files.ts'
import { which } from '../../os/which.ts'
import { fieldsOf, wordOf } from './events.ts'
import type { PiPlace } from './folder.ts'

/**
 * How to start pi so that it leaves out what only repeats itself (see thin.cjs). As it is where that cannot be: a compiled
 * binary, a wrapper, no Node. The environment is not touched, for pi's tools are started with it.
 */
export function startOf(program: string, place: PiPlace, thin: string): string[] {
  const node = fs.existsSync(thin) ? interpreterOf(program, place) : undefined
  return node === undefined ? [program] : [node, '--require', thin, program]
}

/** The Node that the kernel would start for this script; undefined when it is not pi's own script. */
function interpreterOf(program: string, { cwd, env }: PiPlace): string | undefined {
  const script = realPath(program)
  if (script === undefined || !isOfPi(script)) return undefined
  const [line = ''] = readPart(script, 0, 256).toString('latin1').split('\n', 1)
  if (/^#!\s*\/usr\/bin\/env\s+node\s*$/.test(line)) return which('node', env, cwd)
  const told = /^#!\s*(\/\S+\/node)\s*$/.exec(line)?.[1]
  return told === undefined ? undefined : which(told, env, cwd)
}

function isOfPi(script: string): boolean {
  const name = packageOf(path.dirname(script))
  return name === 'pi-coding-agent' || name.endsWith('/pi-coding-agent')
}

function packageOf(folder: string): string {
  try {
    return wordOf(fieldsOf(JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')))['name'])
  } catch {
    const above = path.dirname(folder)
    return above === folder ? '' : packageOf(above)
  }
}

function realPath(file: string): string | undefined {
  try {
    return fs.realpathSync(file)
  } catch {
    return undefined // It is not there: starting it tells so better than we could.
  }
}
