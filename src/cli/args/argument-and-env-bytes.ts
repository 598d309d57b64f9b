import { refusal } from '../../api/contract/problems.ts'
import type { CommandContext } from '../context.ts'
import { decodeLossless, encodeLossless } from '../../lib/text/lossless-utf8.ts'

/** The parsed arguments and the process that got them. */
type RawArguments = Pick<CommandContext, 'argv' | 'host'>

/** Node puts this character in place of bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd'

/**
 * Returns an argument as the bytes that the user typed. Node decodes argv as UTF-8 and loses invalid bytes; the kernel
 * still has them. Without /proc, it returns the decoded text.
 */
export function argumentBytes({ argv, host }: RawArguments, index: number): Buffer {
  const text = argv[index] as string
  const raw = text.includes(REPLACEMENT) ? rawArgument(argv, index, host.commandLine()) : undefined
  return raw ?? Buffer.from(text)
}

/** Refuses arguments that would reach the program with other bytes than the user typed. */
export function refuseInvalidUtf8(context: RawArguments, from: number): void {
  const { argv } = context
  for (let index = from; index < argv.length; index++) {
    const bytes = argumentBytes(context, index)
    if (bytes.equals(Buffer.from(argv[index] as string))) continue
    throw refusal(
      'argument-invalid',
      `argument ${index - from + 1} after -- is not valid UTF-8, so it cannot be handed on unchanged`,
      'pass such bytes in a file',
    )
  }
}

/** Returns the environment with every byte of its values; Node decodes it as UTF-8 and loses invalid bytes. */
export function rawEnvironment(env: NodeJS.ProcessEnv, kernel: () => Buffer | undefined): NodeJS.ProcessEnv {
  if (!Object.values(env).some(value => value?.includes(REPLACEMENT))) return env
  const raw = decodeLossless(kernel() ?? Buffer.alloc(0)).split('\0')
  const values = new Map(raw.map(entry => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]))
  // The kernel has only the values at the start of the process, so a changed value stays.
  const isSame = (name: string, value: string | undefined): boolean =>
    Buffer.from(encodeLossless(values.get(name) ?? '')).toString() === value
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, isSame(name, value) ? values.get(name) : value]),
  )
}

/**
 * Finds an argument in the process's own command line, which ends with argv. Returns undefined when they do not match.
 */
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
