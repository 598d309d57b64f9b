import path from 'node:path'
import type { LoopRequest, PreflightView } from '../../api/contract/loop-view.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { OPTIONS } from '../args/options.ts'
import fs from 'node:fs'
import { literalGlob } from '../../lib/text/glob.ts'

/** Returns the check that must pass: the one on the line, else the project's test command. */
export function chooseCheck(args: ParsedArgs, { check }: PreflightView): LoopRequest['check'] {
  const given = args.value(OPTIONS.verify)
  if (given !== undefined) return { line: given, why: 'as you said' }
  return args.has(OPTIONS.noVerify) ? null : check
}

/** Returns the path of the list, relative to the working directory. */
export function resolveListFile(args: ParsedArgs, word: string | undefined, cwd: string): string | null {
  const option = args.value(OPTIONS.prd)
  if (option !== undefined && word !== undefined)
    throw refusal('usage', 'there are two lists: an argument and --prd', 'give one of them')
  const file = option ?? word
  return file === undefined ? null : path.relative(cwd, path.resolve(cwd, file))
}

/** Patterns of files that must not change, and of files that a task may weaken, relative to the working directory. */
export interface GuardedPaths {
  readonly protect: readonly string[]
  readonly allow: readonly string[]
}

export function parseGuardedPaths(args: ParsedArgs, cwd: string): GuardedPaths {
  return {
    protect: args.values(OPTIONS.protect).map(word => toPattern(word, cwd)),
    allow: args.values(OPTIONS.allow).map(word => toPattern(word, cwd)),
  }
}

/** The path of an existing file means exactly that file, even with glob characters in its name. */
function toPattern(word: string, cwd: string): string {
  const real = fs.realpathSync(cwd)
  const absolute = path.resolve(cwd, word)
  const relative =
    absolute.startsWith(`${cwd}/`) || absolute === cwd ? path.relative(cwd, absolute) : path.relative(real, absolute)
  const pattern = relative === '' ? '.' : relative
  const isThere = fs.lstatSync(path.join(cwd, pattern), { throwIfNoEntry: false }) !== undefined
  return isThere ? literalGlob(pattern) : pattern
}
