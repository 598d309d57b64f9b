import fs from 'node:fs'
import { refusal } from '../../api/contract/problems.ts'
import { hasCode, wordsOf } from '../../lib/trouble.ts'
import type { Line } from '../line/line.ts'
import { isTerminal } from '../screen/is-terminal.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import { bytesOfArgument } from './raw-arguments.ts'

/** No agent reads as much; a device that never ends should not fill the memory. */
const LIMIT = 64 * 1024 * 1024

/** The prompt as bytes, from wherever it was given; undefined when there is none. */
export async function readPrompt(line: Line, { argv, screen }: Surroundings): Promise<Buffer | undefined> {
  const file = line.value(OPTIONS.promptFile)
  const [word] = line.words
  if (file !== undefined && word !== undefined) {
    throw refusal('usage', 'there are two prompts: an argument and --prompt-file', 'give one of them')
  }
  const source = file ?? (word === '-' ? '-' : undefined)
  if (source === undefined && word === undefined) return undefined
  if (source === '-' && isTerminal(0)) screen.err.say('reading the prompt from this terminal; end it with Ctrl-D')
  const bytes = source === undefined ? bytesOfArgument(argv, line.places[0] as number) : await readSource(source)
  if (/^\s*$/.test(bytes.toString())) {
    throw refusal(
      'prompt-empty',
      `the prompt${source === undefined ? '' : ` from ${nameOf(source)}`} is empty`,
      'say what is to be done: oneshot run "fix the bug"',
    )
  }
  return bytes
}

async function readSource(source: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of source === '-' ? process.stdin : fs.createReadStream(source)) {
      chunks.push(chunk as Buffer)
      size += (chunk as Buffer).length
      if (size > LIMIT) throw tooLong(source)
    }
  } catch (cause) {
    throw hasCode(cause, 'prompt-unreadable') ? cause : unreadable(source, cause)
  }
  return Buffer.concat(chunks)
}

function tooLong(source: string): Error {
  return refusal(
    'prompt-unreadable',
    `the prompt from ${nameOf(source)} is longer than 64 MB`,
    'put it into files and name them',
  )
}

function unreadable(source: string, cause: unknown): Error {
  const why = hasCode(cause, 'ENOENT', 'ENOTDIR')
    ? 'there is no such file'
    : hasCode(cause, 'EISDIR')
      ? 'it is a directory'
      : hasCode(cause, 'EACCES', 'EPERM')
        ? 'you may not read it'
        : wordsOf(cause)
  return refusal('prompt-unreadable', `cannot read the prompt from ${nameOf(source)}: ${why}`, 'check --prompt-file')
}

function nameOf(source: string): string {
  return source === '-' ? 'stdin' : source
}
