import fs from 'node:fs'
import { refusal } from '../../api/contract/problems.ts'
import { errorMessage, hasCode } from '../../lib/errors.ts'
import type { ParsedArgs } from './parsed-args.ts'
import { type CommandContext, resolvePath } from '../context.ts'
import { OPTIONS } from './options.ts'
import { argumentBytes } from './argument-and-env-bytes.ts'

/** No agent reads a longer text; an endless device must not fill the memory. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024

/** The purpose of a text, for messages about it. */
export interface TextKind {
  readonly what: 'prompt' | 'message'
  /** The option that names a file. */
  readonly option: string
}

/** Reads a text as bytes, from a file or, with `-`, from stdin. */
export async function readText(
  source: string,
  { what: kind, option }: TextKind,
  context: CommandContext,
): Promise<Buffer> {
  const { input, err } = context.screen
  if (source === '-' && input.isTerminal) err.printLine(`reading the ${kind} from this terminal; end it with Ctrl-D`)
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of source === '-' ? input.open() : fs.createReadStream(resolvePath(context, source))) {
      chunks.push(chunk as Buffer)
      size += (chunk as Buffer).length
      if (size > MAX_TEXT_BYTES) throw textTooLong(source, kind)
    }
  } catch (cause) {
    if (hasCode(cause, 'prompt-unreadable')) throw cause
    const sentence = `cannot read the ${kind} from ${sourceName(source)}: ${describeReadError(cause)}`
    throw refusal('prompt-unreadable', sentence, `check --${option}`)
  }
  return Buffer.concat(chunks)
}

export function isBlankText(text: Uint8Array): boolean {
  return /^\s*$/.test(Buffer.from(text).toString())
}

export function sourceName(source: string): string {
  return source === '-' ? 'stdin' : source
}

function textTooLong(source: string, kind: string): Error {
  return refusal(
    'prompt-unreadable',
    `the ${kind} from ${sourceName(source)} is longer than 64 MB`,
    'put it into files and name them',
  )
}

function describeReadError(cause: unknown): string {
  if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return 'there is no such file'
  if (hasCode(cause, 'EISDIR')) return 'it is a directory'
  return hasCode(cause, 'EACCES', 'EPERM') ? 'you may not read it' : errorMessage(cause)
}

/** Reads the prompt as bytes from its argument or file; returns undefined if there is none. */
export async function readPrompt(
  args: ParsedArgs,
  context: CommandContext,
  example = 'oneshot run "fix the bug"',
): Promise<Buffer | undefined> {
  const file = args.value(OPTIONS.promptFile)
  const [word] = args.positionals
  if (file !== undefined && word !== undefined) {
    throw refusal('usage', 'there are two prompts: an argument and --prompt-file', 'give one of them')
  }
  const source = file ?? (word === '-' ? '-' : undefined)
  if (source === undefined && word === undefined) return undefined
  const bytes =
    source === undefined
      ? argumentBytes(context, args.argvIndexes[0] as number)
      : await readText(source, { what: 'prompt', option: 'prompt-file' }, context)
  if (!isBlankText(bytes)) return bytes
  throw refusal(
    'prompt-empty',
    `the prompt${source === undefined ? '' : ` from ${sourceName(source)}`} is empty`,
    `say what is to be done: ${example}`,
  )
}
