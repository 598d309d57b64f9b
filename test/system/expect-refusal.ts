import fs from 'node:fs'
import { expect } from 'vitest'
import type { ProblemCode } from '../../src/api/contract/problems.ts'
import type { Circumstances, House } from './house.ts'

export interface Refused {
  readonly exit: number
  readonly code: ProblemCode
  /** Words of the sentence. */
  readonly says: string
  /** Words of the hint. */
  readonly hint: string
}

/** Asks as a person and again as a program: both hear the same sentence and hint, and nothing was begun or lost. */
export async function expectRefusal(
  house: House,
  args: readonly string[],
  { exit, code, says, hint }: Refused,
  circumstances: Circumstances = {},
): Promise<void> {
  const before = foldersOf(house)
  const person = await house.call(args, circumstances)
  const [command = '', ...rest] = args
  const program = await house.call([command, '--json', ...rest], circumstances)
  const { error } = answerOf(program.stdout)
  expect({ exit: person.code, stdout: person.stdout, stderr: person.stderr }).toEqual({
    exit,
    stdout: '',
    stderr: `error: ${error.message}\nhint: ${error.hint}\n`,
  })
  expect({ exit: program.code, stderr: program.stderr, code: error.code }).toEqual({ exit, stderr: '', code })
  expect(error.message).toContain(says)
  expect(error.hint).toContain(hint)
  expect(foldersOf(house)).toEqual(before)
}

function answerOf(stdout: string): { error: { code: string; message: string; hint: string } } {
  try {
    return JSON.parse(stdout)
  } catch {
    return { error: { code: 'no JSON', message: stdout, hint: '' } }
  }
}

/** Every session that left a trace. */
function foldersOf({ home }: House): string[] {
  try {
    return fs.readdirSync(home.sessions)
  } catch {
    return [] // Nothing was ever accepted here.
  }
}
