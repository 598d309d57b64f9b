import fs from 'node:fs'
import path from 'node:path'
import { literalGlob } from '../../lib/glob.ts'
import type { Line } from '../line/line.ts'
import { OPTIONS } from '../table/options.ts'

/** Patterns of files that must stay as they are, and of files that a task may weaken, relative to the work's folder. */
export interface GuardedPaths {
  readonly protect: readonly string[]
  readonly allow: readonly string[]
}

export function guardedPaths(line: Line, cwd: string): GuardedPaths {
  return {
    protect: line.values(OPTIONS.protect).map(word => patternOf(word, cwd)),
    allow: line.values(OPTIONS.allow).map(word => patternOf(word, cwd)),
  }
}

/** A path that is there means that very path, whatever signs are in its name. */
function patternOf(word: string, cwd: string): string {
  const real = fs.realpathSync(cwd)
  const whole = path.resolve(cwd, word)
  const near = whole.startsWith(`${cwd}/`) || whole === cwd ? path.relative(cwd, whole) : path.relative(real, whole)
  const pattern = near === '' ? '.' : near
  const isThere = fs.lstatSync(path.join(cwd, pattern), { throwIfNoEntry: false }) !== undefined
  return isThere ? literalGlob(pattern) : pattern
}
