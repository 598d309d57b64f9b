import fs from 'node:fs'
import path from 'node:path'
import { readPart } from '../../os/files.ts'
import { which } from '../../os/which.ts'
import { jsonInFile, realPath } from '../disk.ts'
import { text } from '../json.ts'
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
  if (!isOfPi(script)) return undefined
  const [line = ''] = readPart(script, 0, 256).toString('latin1').split('\n', 1)
  if (/^#!\s*\/usr\/bin\/env\s+node\s*$/.test(line)) return which('node', env, cwd)
  const told = /^#!\s*(\/\S+\/node)\s*$/.exec(line)?.[1]
  return told === undefined ? undefined : which(told, env, cwd)
}

function isOfPi(script: string): boolean {
  const name = packageOf(path.dirname(script))
  return name === 'pi-coding-agent' || name.endsWith('/pi-coding-agent')
}

/** Of the nearest package above. */
function packageOf(folder: string): string {
  const about = jsonInFile(path.join(folder, 'package.json'))
  const above = path.dirname(folder)
  return about === null && above !== folder ? packageOf(above) : text(about?.['name'])
}
