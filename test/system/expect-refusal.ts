import fs from 'node:fs'
import { expect } from 'vitest'
import type { ProblemCode } from '../../src/api/contract/problems.ts'
import type { CallOptions, TestHome } from './test-home.ts'

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
  testHome: TestHome,
  args: readonly string[],
  { exit, code, says, hint }: Refused,
  circumstances: CallOptions = {},
): Promise<void> {
  const before = foldersOf(testHome)
  const person = await testHome.call(args, circumstances)
  const [command = '', ...rest] = args
  const program = await testHome.call([command, '--json', ...rest], circumstances)
  const { error } = answerOf(program.stdout)
  expect({ exit: person.code, stdout: person.stdout, stderr: person.stderr }).toEqual({
    exit,
    stdout: '',
    stderr: `error: ${error.message}\nhint: ${error.hint}\n`,
  })
  expect({ exit: program.code, stderr: program.stderr, code: error.code }).toEqual({ exit, stderr: '', code })
  expect(error.message).toContain(says)
  expect(error.hint).toContain(hint)
  expect(foldersOf(testHome)).toEqual(before)
}

function answerOf(stdout: string): { error: { code: string; message: string; hint: string } } {
  try {
    return JSON.parse(stdout)
  } catch {
    return { error: { code: 'no JSON', message: stdout, hint: '' } }
  }
}

/** Every session that left a trace. */
function foldersOf({ home }: TestHome): string[] {
  try {
    return fs.readdirSync(home.sessions)
  } catch {
    return [] // Nothing was ever accepted here.
  }
}
