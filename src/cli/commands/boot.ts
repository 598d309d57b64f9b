import fs from 'node:fs'
import { createBootCommand } from '../../world/boot/boot-command.ts'
import type { BootManager } from '../../world/boot/boot-manager.ts'
import { openHome } from '../../state/home.ts'
import { chooseMechanism } from '../boot/choose-mechanism.ts'
import { type BootReport, inspectBoot, installHint } from '../boot/inspect.ts'
import { mechanismsFor } from '../boot/inspect.ts'
import { findRespondingDaemon, startDaemon, waitForDaemon } from '../daemon/start-and-stop-daemon.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import type { Screen } from '../terminal/command-streams.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { choiceType } from '../args/value-types.ts'

const BOOT_ACTIONS = ['install', 'remove', 'status'] as const

export const command: Command = {
  name: 'boot',
  group: 'Supervisor',
  order: 20,
  summary: 'start the supervisor at boot, so that work continues after a reboot',
  about: `install adds a systemd user unit, a launchd agent or a line in your crontab. It changes nothing
for other users and does not disturb running work. With systemd your user needs lingering, which
install switches on if it may: otherwise the unit starts only when you log in. launchd starts it
when you log in.

The supervisor starts at boot even if you called \`oneshot daemon stop\` before. To keep a session
from continuing after a reboot: \`oneshot stop\` it, or install with --no-resume.

status exits with 3 when nothing is installed, and with 1 when what is installed would not work,
for example after oneshot was moved or another Node was installed: then install again.`,
  arguments: [
    { valueType: choiceType('ACTION', BOOT_ACTIONS), summary: `${BOOT_ACTIONS.join(', ')}; status unless given` },
  ],
  options: [OPTIONS.with, OPTIONS.noResume, OPTIONS.dryRun, OPTIONS.json],
  examples: [
    { argv: ['boot', 'install'], description: 'in the best way that works here' },
    { argv: ['boot', 'install', '--with', 'cron', '--dry-run'], description: 'only show the line' },
    { argv: ['boot', 'install', '--no-resume'], description: 'start the supervisor, and let the sessions be' },
    { argv: ['boot', 'status'], description: 'is it installed, and would it work?' },
  ],
  run: boot,
}

async function boot(args: ParsedArgs, context: CommandContext): Promise<number> {
  const action = (args.positionals[0] ?? 'status') as (typeof BOOT_ACTIONS)[number]
  return await ACTIONS[action](args, context)
}

const ACTIONS = { install, remove, status } as const satisfies Record<
  (typeof BOOT_ACTIONS)[number],
  (args: ParsedArgs, context: CommandContext) => Promise<number>
>

/** The same code as for a missing session. */
const NOT_INSTALLED = 3

async function install(args: ParsedArgs, { home, env, screen }: CommandContext): Promise<number> {
  const command = createBootCommand(home, env, { noResume: args.has(OPTIONS.noResume) })
  const dryRun = args.has(OPTIONS.dryRun)
  const mechanisms = mechanismsFor(home, env)
  const { mechanism, notes } = await chooseMechanism(mechanisms, { with: args.value(OPTIONS.with), env, dryRun })
  const result = { with: mechanism.name, where: mechanism.where, notes }
  if (dryRun) {
    const text = mechanism.render(command)
    if (args.has(OPTIONS.json)) screen.out.printLine(toJson({ ...result, text }))
    else screen.out.printLine(text.trimEnd())
    printNotes(args, screen, [`would be written to ${mechanism.where}`, ...notes])
    return 0
  }
  openHome(home) // Without a home, a keeper finds no work and exits.
  // A user who stopped the supervisor wants none now; and a supervisor that holds its sessions is only for a boot.
  const shouldStart = !command.noResume && !fs.existsSync(home.downMarker)
  await mechanism.install(command)
  const removed = []
  for (const other of mechanisms) if (other !== mechanism) removed.push(await removeIfInstalled(other))
  // The supervisor stopped with the removed unit.
  if (removed.some(result => result?.hasStopped) && mechanism.start === undefined) await startDaemon({ home, env })
  if (shouldStart && mechanism.start !== undefined && (await findRespondingDaemon(home)) === undefined) {
    await mechanism.start()
    await waitForDaemon(home)
  }
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson(result))
  printNotes(args, screen, [`installed with ${mechanism.name}: ${mechanism.where}`, ...notes])
  return 0
}

async function remove(args: ParsedArgs, { home, env, screen }: CommandContext): Promise<number> {
  const removed: string[] = []
  let hasStopped = false
  for (const mechanism of mechanismsFor(home, env)) {
    const result = await removeIfInstalled(mechanism)
    if (result !== undefined) removed.push(mechanism.where)
    hasStopped ||= result?.hasStopped === true
  }
  // The supervisor stopped with its unit; a new one supervises the sessions until the user stops it.
  if (hasStopped) await startDaemon({ home, env })
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson({ removed }))
  printNotes(args, screen, removed.length === 0 ? ['nothing was installed'] : removed.map(where => `removed: ${where}`))
  return 0
}

async function status(args: ParsedArgs, { home, env, screen }: CommandContext): Promise<number> {
  const report = await inspectBoot(home, env)
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson(report))
  else {
    const hint = report.installed.length > 0 ? '' : await installHint(home, env)
    for (const text of describe(report, screen, hint)) screen.out.printLine(text)
  }
  if (report.problems.length > 0) return 1
  return report.installed.length > 0 ? 0 : NOT_INSTALLED
}

async function removeIfInstalled(mechanism: BootManager): Promise<{ hasStopped: boolean } | undefined> {
  return (await mechanism.find()) === undefined ? undefined : await mechanism.remove()
}

function printNotes(args: ParsedArgs, { err, isQuiet }: Screen, notes: readonly string[]): void {
  if (isQuiet || args.has(OPTIONS.json)) return
  for (const note of notes) err.printLine(note)
}

function describe({ installed, problems }: BootReport, { out }: Screen, hint: string): string[] {
  const { paint } = out
  const entries = installed.map(({ with: name, where, noResume }) => {
    const mode = noResume ? '; it holds all sessions (--no-resume)' : ''
    return `${paint.green('● installed')} with ${name}: ${where}${mode}`
  })
  const none = `${paint.dim('○ not installed')}: after a reboot, work waits for your next command`
  const faults = problems.map(
    ({ message, hint }) => `${paint.yellow('▲')} ${message}\n  ${paint.cyan('hint:')} ${hint}`,
  )
  return [...(entries.length === 0 ? [none, `  ${paint.cyan('hint:')} ${hint}`] : entries), ...faults]
}
