import type { BootCommand } from './boot-command.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { Trouble, hasCode, NOT_FOUND } from '../../lib/errors.ts'
import { type RunResult, run } from '../../os/run.ts'
import os from 'node:os'
import type { BootManagerName } from './manager-names.ts'

/** The installed boot entry as found. */
export interface InstalledBoot {
  /** A file, or the owner of a crontab. */
  readonly where: string
  readonly text: string
  /** Undefined if a user has edited the entry so that it can no longer be parsed. */
  readonly order: BootCommand | undefined
  /** True if the entry is enabled; a unit may exist and be disabled. */
  readonly isEnabled: boolean
}

/** One way to start the supervisor at boot. Each action may be repeated; none of them ends an agent. */
export interface BootManager {
  readonly name: BootManagerName
  /** Location of the entry. */
  readonly where: string
  /** Returns why this manager cannot be used here; undefined if it can. */
  readonly whyUnavailable: () => Promise<string | undefined>
  /** Throws Trouble if the state is unknown, for example because crontab fails. */
  readonly find: () => Promise<InstalledBoot | undefined>
  /** Returns the text that `install` would write. */
  readonly render: (order: BootCommand) => string
  /** Writes the entry for the next boot and replaces an earlier one. Running processes are not affected. */
  readonly install: (order: BootCommand) => Promise<void>
  /** Starts the supervisor through this manager at once; absent if only a boot does that. */
  readonly start?: () => Promise<void>
  /**
   * Removes the entry. `hasStopped`: this stopped the supervisor, and the caller may have to start it in another way.
   */
  readonly remove: () => Promise<{ readonly hasStopped: boolean }>
}

/** Milliseconds: these programs ask a service that answers at once or never. */
const COMMAND_TIMEOUT = 20_000

export type RunCommand = (program: string, args: readonly string[], input?: string) => Promise<RunResult>

/** Runs a program of the system in this environment with the C locale, so that its messages are known. */
export function createRunCommand(env: NodeJS.ProcessEnv): RunCommand {
  return async (program, args, input) => {
    const options = { env: { ...env, LC_ALL: 'C' }, timeout: COMMAND_TIMEOUT }
    try {
      return await run(program, args, { ...options, ...(input !== undefined && { input: Buffer.from(input) }) })
    } catch (cause) {
      if (hasCode(cause, ...NOT_FOUND))
        return { code: 127, signal: null, stdout: '', stderr: `${program} is not on PATH` }
      throw cause
    }
  }
}

/** Throws Trouble with the program's own message if it fails. */
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

/** Returns the user's name for logind and cron. In some containers a user has a number and no name. */
export function currentUserName(): string {
  try {
    return os.userInfo().username
  } catch {
    return String(process.getuid?.() ?? '')
  }
}
