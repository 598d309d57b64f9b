import fs from 'node:fs'
import { refusal } from '../../api/contract/problems.ts'
import { decodeLossless, encodeLossless } from '../../lib/text/lossless-utf8.ts'

/** What Node puts in place of bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd'

/**
 * A word of the command line as the bytes that were typed. Node decodes argv as UTF-8 and loses what is not;
 * the kernel still has it. Where it cannot be asked, the decoded text is the best there is.
 */
export function argumentBytes(argv: readonly string[], index: number): Buffer {
  const text = argv[index] as string
  const raw = text.includes(REPLACEMENT) ? rawArgument(argv, index, ownCommandLine()) : undefined
  return raw ?? Buffer.from(text)
}

/** Refuses arguments that would reach the program as something else than was typed. */
export function refuseInvalidUtf8(argv: readonly string[], from: number): void {
  for (let index = from; index < argv.length; index++) {
    const bytes = argumentBytes(argv, index)
    if (bytes.equals(Buffer.from(argv[index] as string))) continue
    throw refusal(
      'argument-invalid',
      `argument ${index - from + 1} after -- is not valid UTF-8, so it cannot be handed on unchanged`,
      'pass such bytes in a file',
    )
  }
}

/** The environment with every byte of its values; Node decodes it as UTF-8 and loses what is not. */
export function rawEnvironment(env: NodeJS.ProcessEnv, kernel = ownEnvironment): NodeJS.ProcessEnv {
  if (!Object.values(env).some(value => value?.includes(REPLACEMENT))) return env
  const raw = decodeLossless(kernel() ?? Buffer.alloc(0)).split('\0')
  const values = new Map(raw.map(entry => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]))
  // A value that was changed since the start is not what the kernel has.
  const isSame = (name: string, value: string | undefined): boolean =>
    Buffer.from(encodeLossless(values.get(name) ?? '')).toString() === value
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, isSame(name, value) ? values.get(name) : value]),
  )
}

function ownEnvironment(): Buffer | undefined {
  return readBytes('/proc/self/environ')
}

/** The words of argv are the last ones of the process's own command line. Undefined when they do not match. */
export function rawArgument(
  argv: readonly string[],
  index: number,
  commandLine: Buffer | undefined,
): Buffer | undefined {
  if (commandLine === undefined) return undefined
  const raw: Buffer[] = []
  for (let start = 0; start < commandLine.length; ) {
    const end = commandLine.indexOf(0, start)
    raw.push(commandLine.subarray(start, end < 0 ? commandLine.length : end))
    start = end < 0 ? commandLine.length : end + 1
  }
  const bytes = raw[raw.length - argv.length + index]
  return bytes?.toString() === argv[index] ? bytes : undefined
}

let commandLineAtStart: Buffer | undefined

/**
 * Puts a title in the place of the command line, which every user of the machine can read for as long as we live: it may
 * hold a prompt or a key. What Node could not decode of it is remembered.
 */
export function setProcessTitle(argv: readonly string[], title: string): void {
  if (argv.some(word => word.includes(REPLACEMENT))) commandLineAtStart = ownCommandLine()
  process.title = title
}

function ownCommandLine(): Buffer | undefined {
  return commandLineAtStart ?? readBytes('/proc/self/cmdline')
}

function readBytes(file: string): Buffer | undefined {
  try {
    return fs.readFileSync(file)
  } catch {
    return undefined // Only Linux has it.
  }
}
