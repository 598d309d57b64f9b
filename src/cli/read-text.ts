import fs from 'node:fs'
import { refusal } from '../api/contract/problems.ts'
import { hasCode, wordsOf } from '../lib/trouble.ts'
import { isTerminal } from './screen/is-terminal.ts'
import type { Screen } from './screen/screen.ts'

/** No agent reads as much; a device that never ends should not fill the memory. */
const LIMIT = 64 * 1024 * 1024

/** What a text is for, in sentences about it. */
export interface TextUse {
  readonly what: 'prompt' | 'message'
  /** The option that names a file. */
  readonly option: string
}

/** A text as bytes, from a file or, by `-`, from stdin. */
export async function readText(source: string, { what, option }: TextUse, screen: Screen): Promise<Buffer> {
  if (source === '-' && isTerminal(0)) screen.err.say(`reading the ${what} from this terminal; end it with Ctrl-D`)
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of source === '-' ? process.stdin : fs.createReadStream(source)) {
      chunks.push(chunk as Buffer)
      size += (chunk as Buffer).length
      if (size > LIMIT) throw tooLong(source, what)
    }
  } catch (cause) {
    if (hasCode(cause, 'prompt-unreadable')) throw cause
    const sentence = `cannot read the ${what} from ${nameOf(source)}: ${whyUnreadable(cause)}`
    throw refusal('prompt-unreadable', sentence, `check --${option}`)
  }
  return Buffer.concat(chunks)
}

export function isBlank(text: Uint8Array): boolean {
  return /^\s*$/.test(Buffer.from(text).toString())
}

export function nameOf(source: string): string {
  return source === '-' ? 'stdin' : source
}

function tooLong(source: string, what: string): Error {
  return refusal(
    'prompt-unreadable',
    `the ${what} from ${nameOf(source)} is longer than 64 MB`,
    'put it into files and name them',
  )
}

function whyUnreadable(cause: unknown): string {
  if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return 'there is no such file'
  if (hasCode(cause, 'EISDIR')) return 'it is a directory'
  return hasCode(cause, 'EACCES', 'EPERM') ? 'you may not read it' : wordsOf(cause)
}
