import type { BootCommand } from './boot-command.ts'
import { toOneLine } from '../../lib/text/terminal-text.ts'
import { Trouble, hasCode } from '../../lib/errors.ts'
import { type RunResult, run } from '../../os/run.ts'
import os from 'node:os'

export const BOOT_MANAGERS = ['systemd', 'launchd', 'cron'] as const
export type BootManagerName = (typeof BOOT_MANAGERS)[number]

/** What is in place, as it was found. */
export interface InstalledBoot {
  /** A file, or whose crontab. */
  readonly where: string
  readonly text: string
  /** Undefined when a person has rewritten it beyond our understanding. */
  readonly order: BootCommand | undefined
  /** Whether it is also switched on; a unit may be there and disabled. */
  readonly isEnabled: boolean
}

/** A way of being started with the machine. Each deed may be repeated; none of them ends an agent. */
export interface BootManager {
  readonly name: BootManagerName
  /** Where it is written down. */
  readonly where: string
  /** Why it cannot be used here; undefined when it can. */
  readonly whyUnavailable: () => Promise<string | undefined>
  /** Throws trouble when it cannot be told, as when crontab fails. */
  readonly find: () => Promise<InstalledBoot | undefined>
  /** The text that install would write. */
  readonly render: (order: BootCommand) => string
  /** Writes it down for the next boot, in place of what was there. What runs is not disturbed. */
  readonly install: (order: BootCommand) => Promise<void>
  /** Starts the supervisor in this way at once; absent where only a boot does. */
  readonly start?: () => Promise<void>
  /** Takes it away. A supervisor that lived by it may have to be started again in another way: that is the answer. */
  readonly remove: () => Promise<{ readonly hasStopped: boolean }>
}

/** These programs ask a service that answers at once, or never. */
const COMMAND_TIMEOUT = 20_000

export type RunCommand = (program: string, args: readonly string[], input?: string) => Promise<RunResult>

/** Runs a program of the system in this environment, in a language whose words we know. */
export function createRunCommand(env: NodeJS.ProcessEnv): RunCommand {
  return async (program, args, input) => {
    const options = { env: { ...env, LC_ALL: 'C' }, timeout: COMMAND_TIMEOUT }
    try {
      return await run(program, args, { ...options, ...(input !== undefined && { input: Buffer.from(input) }) })
    } catch (cause) {
      if (hasCode(cause, 'ENOENT')) return { code: 127, signal: null, stdout: '', stderr: `${program} is not on PATH` }
      throw cause
    }
  }
}

/** Throws trouble in the program's own words when it fails. */
export async function runOrThrow(
  runCommand: RunCommand,
  program: string,
  args: readonly string[],
  input?: string,
): Promise<string> {
  const result = await runCommand(program, args, input)
  if (result.code === 0) return result.stdout
  throw new Trouble(`calling ${program} ${args.join(' ')}`, describeFailure(result))
}

export function describeFailure({ code, signal, stdout, stderr }: RunResult): string {
  const output = toOneLine((stderr.trim() || stdout.trim()).split('\n').slice(0, 3).join('; '))
  return output || (signal === null ? `it exited with ${code} and said nothing` : `it was ended by ${signal}`)
}

/** As logind and cron know us. In some containers a user has a number and no name. */
export function currentUserName(): string {
  try {
    return os.userInfo().username
  } catch {
    return String(process.getuid?.() ?? '')
  }
}
