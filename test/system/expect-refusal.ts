import fs from 'node:fs'
import { expect } from 'vitest'
import type { ProblemCode } from '../../src/api/contract/problems.ts'
import type { CallOptions, TestHome } from './test-home.ts'

export interface Refused {
  readonly exit: number
  readonly code: ProblemCode
  /** Words of the message. */
  readonly says: string
  /** Words of the hint. */
  readonly hint: string
}

/**
 * Runs the command in text and in JSON form: both must print the same message and hint, and nothing may start or get
 * lost.
 */
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

/** Returns every session that left a folder. */
function foldersOf({ home }: TestHome): string[] {
  try {
    return fs.readdirSync(home.sessions)
  } catch {
    return [] // No session was ever accepted here.
  }
}
