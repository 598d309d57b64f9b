import fs from 'node:fs'
import { Refusal, Trouble } from '../../lib/errors.ts'
import { which } from '../../os/which.ts'
import {
  type BootManager,
  type InstalledBoot,
  createRunCommand,
  currentUserName,
  describeFailure,
  runOrThrow,
} from './boot-manager.ts'
import { type BootCommand, NO_RESUME, bootArgv, minimalPath, parseBootArgv } from './boot-command.ts'
import { quoteShellWord } from '../../lib/text/shell-words.ts'

/** Manages a line in the user's crontab and leaves every other byte of it unchanged. */
export function cronManager(name: string, env: NodeJS.ProcessEnv): BootManager {
  const runCommand = createRunCommand(env)
  const where = `the crontab of ${currentUserName()}`
  const render = (bootCommand: BootCommand): string => {
    const line = renderCronLine(name, bootCommand)
    return fitsInCrontab(line) ? line : renderCronLine(name, { ...bootCommand, path: minimalPath(env) })
  }
  const list = async (): Promise<string> => {
    const result = await runCommand('crontab', ['-l'])
    if (result.code === 0) return result.stdout
    if (/no crontab for|can't open/i.test(result.stderr)) return '' // The latter is busybox.
    throw new Trouble('reading your crontab', describeFailure(result))
  }
  return {
    name: 'cron',
    where,
    render,
    async whyUnavailable() {
      try {
        await list()
        return undefined
      } catch (cause) {
        return cause instanceof Error ? cause.message : String(cause)
      }
    },
    async find(): Promise<InstalledBoot | undefined> {
      if (which('crontab', env, '/') === undefined) return undefined
      const line = findLine(await list(), name)
      return line === undefined ? undefined : { where, text: line, order: readCronLine(line), isEnabled: true }
    },
    async install(bootCommand) {
      await runOrThrow(runCommand, 'crontab', ['-'], withLine(await list(), name, render(bootCommand)))
    },
    async remove() {
      const rest = withoutLine(await list(), name)
      if (rest === '') await runOrThrow(runCommand, 'crontab', ['-r'])
      else await runOrThrow(runCommand, 'crontab', ['-'], rest)
      return { hasStopped: false }
    },
  }
}

/** Returns true if a cron daemon runs; null if that is unknown. */
export function isCronRunning(): boolean | null {
  try {
    const pids = fs.readdirSync('/proc').filter(entry => /^\d+$/.test(entry))
    return pids.some(pid => /^(cron|crond|fcron)$/.test(readCommandName(pid)))
  } catch {
    return null // This system has no /proc: macOS starts cron when a crontab exists.
  }
}

function readCommandName(pid: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return '' // The process has ended meanwhile.
  }
}

/** cron 3.0 (Debian 12) refuses a longer command. */
const MAX_COMMAND_LENGTH = 990

/** Renders one line of a crontab, marked by the name at its end. */
export function renderCronLine(name: string, bootCommand: BootCommand): string {
  const variables = [`ONESHOT_HOME=${quoteShellWord(bootCommand.home)}`, `PATH=${quoteShellWord(bootCommand.path)}`]
  if (bootCommand.noResume) variables.push(`${NO_RESUME}=1`)
  const command = [
    ...variables,
    'exec',
    ...bootArgv(bootCommand).map(quoteShellWord),
    '</dev/null >/dev/null 2>&1',
    lineMarker(name),
  ]
  const text = command.join(' ')
  assertNoBackslash(bootCommand)
  // cron turns % into a line break, even within quotes, unless a backslash precedes it.
  return `@reboot ${text.replaceAll('%', '\\%')}`
}

function fitsInCrontab(line: string): boolean {
  return Buffer.byteLength(line) <= MAX_COMMAND_LENGTH
}

/** Returns the crontab with this line at the end, in place of an earlier one of that name. All other bytes stay. */
export function withLine(crontab: string, name: string, line: string): string {
  const others = withoutLine(crontab, name)
  const isUnterminated = others !== '' && !others.endsWith('\n')
  return `${others}${isUnterminated ? '\n' : ''}${line}\n`
}

export function withoutLine(crontab: string, name: string): string {
  return crontab
    .split(/(?<=\n)/)
    .filter(line => !isOurs(line, name))
    .join('')
}

export function findLine(crontab: string, name: string): string | undefined {
  return crontab.split('\n').find(line => isOurs(line, name))
}

/** Parses a line that oneshot wrote; undefined for any other. */
export function readCronLine(line: string): BootCommand | undefined {
  const plain = line.replaceAll('\\%', '%')
  const [, path, ...argv] = parseQuotedWords(plain)
  return parseBootArgv(argv, path ?? '', plain.includes(`' ${NO_RESUME}=1 exec '`))
}

function isOurs(line: string, name: string): boolean {
  return line.startsWith('@reboot ') && line.trimEnd().endsWith(` ${lineMarker(name)}`)
}

function lineMarker(name: string): string {
  return `# oneshot boot ${name}`
}

function parseQuotedWords(text: string): string[] {
  return [...text.matchAll(/'((?:[^']|'\\'')*)'/g)].map(([, word = '']) => word.replaceAll("'\\''", "'"))
}

/** Refuses a backslash: not every cron distinguishes a literal backslash before % from an escape. */
function assertNoBackslash({ home, keeper, node, program, path }: BootCommand): void {
  const odd = [home, keeper, node, program, path].find(text => text.includes('\\'))
  if (odd === undefined) return
  throw new Refusal('boot-impossible', `a crontab cannot hold the backslash in ${odd}`, 'move it to another folder')
}
