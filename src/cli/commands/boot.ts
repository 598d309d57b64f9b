import fs from 'node:fs'
import { bootOrder } from '../../world/os/boot/boot-order.ts'
import type { Mechanism } from '../../world/os/boot/mechanism.ts'
import { openHome } from '../../world/os/home.ts'
import { choose } from '../boot/choose.ts'
import { type BootReport, inspect, wayToInstall } from '../boot/inspect.ts'
import { mechanismsFor } from '../boot/mechanisms.ts'
import { findAnswering, startDaemon, untilItAnswers } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import type { Screen } from '../screen/screen.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import type { BOOT_ACTIONS } from '../table/supervisor.ts'

export async function boot(line: Line, surroundings: Surroundings): Promise<number> {
  const action = (line.words[0] ?? 'status') as (typeof BOOT_ACTIONS)[number]
  return await ACTIONS[action](line, surroundings)
}

const ACTIONS = { install, remove, status } as const satisfies Record<
  (typeof BOOT_ACTIONS)[number],
  (line: Line, surroundings: Surroundings) => Promise<number>
>

/** Not there, as with a session that is not. */
const NOT_INSTALLED = 3

async function install(line: Line, { home, env, screen }: Surroundings): Promise<number> {
  const order = bootOrder(home, env, { noResume: line.has(OPTIONS.noResume) })
  const dryRun = line.has(OPTIONS.dryRun)
  const all = mechanismsFor(home, env)
  const { mechanism, notes } = await choose(all, { with: line.value(OPTIONS.with), env, dryRun })
  const told = { with: mechanism.name, where: mechanism.where, notes }
  if (dryRun) {
    const text = mechanism.render(order)
    if (line.has(OPTIONS.json)) screen.out.say(toJson({ ...told, text }))
    else screen.out.say(text.trimEnd())
    tellNotes(line, screen, [`would be written to ${mechanism.where}`, ...notes])
    return 0
  }
  openHome(home) // A keeper finds nothing to do where there is no home, and leaves.
  // Whoever stopped it wants none now; and a supervisor that keeps its sessions still is for a boot only.
  const isWanted = !order.noResume && !fs.existsSync(home.downMarker)
  await mechanism.install(order)
  const removed = []
  for (const other of all) if (other !== mechanism) removed.push(await removeIfThere(other))
  // It lived by the unit that went.
  if (removed.some(result => result?.hasStopped) && mechanism.start === undefined) await startDaemon(home)
  if (isWanted && mechanism.start !== undefined && (await findAnswering(home)) === undefined) {
    await mechanism.start()
    await untilItAnswers(home)
  }
  if (line.has(OPTIONS.json)) screen.out.say(toJson(told))
  tellNotes(line, screen, [`installed with ${mechanism.name}: ${mechanism.where}`, ...notes])
  return 0
}

async function remove(line: Line, { home, env, screen }: Surroundings): Promise<number> {
  const removed: string[] = []
  let hasStopped = false
  for (const mechanism of mechanismsFor(home, env)) {
    const result = await removeIfThere(mechanism)
    if (result !== undefined) removed.push(mechanism.where)
    hasStopped ||= result?.hasStopped === true
  }
  // It lived by the unit; sessions go on being supervised until somebody says otherwise.
  if (hasStopped) await startDaemon(home)
  if (line.has(OPTIONS.json)) screen.out.say(toJson({ removed }))
  tellNotes(line, screen, removed.length === 0 ? ['nothing was installed'] : removed.map(where => `removed: ${where}`))
  return 0
}

async function status(line: Line, { home, env, screen }: Surroundings): Promise<number> {
  const report = await inspect(home, env)
  if (line.has(OPTIONS.json)) screen.out.say(toJson(report))
  else {
    const hint = report.installed.length > 0 ? '' : await wayToInstall(home, env)
    for (const text of describe(report, screen, hint)) screen.out.say(text)
  }
  if (report.problems.length > 0) return 1
  return report.installed.length > 0 ? 0 : NOT_INSTALLED
}

async function removeIfThere(mechanism: Mechanism): Promise<{ hasStopped: boolean } | undefined> {
  return (await mechanism.find()) === undefined ? undefined : await mechanism.remove()
}

function tellNotes(line: Line, { err, isQuiet }: Screen, notes: readonly string[]): void {
  if (isQuiet || line.has(OPTIONS.json)) return
  for (const note of notes) err.say(note)
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
