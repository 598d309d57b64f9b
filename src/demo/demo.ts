import fs from 'node:fs'
import path from 'node:path'
import { formatDuration } from '../lib/time.ts'
import { attemptFolder } from '../world/os/folders.ts'
import { findTree } from '../world/os/end-tree.ts'
import { type Play, play } from './play.ts'
import { setStage, type Stage, until } from './stage.ts'

const STEPS = 12

/** Shows the promise on the real product: kills the agent, the supervisor and tmux, and counts what is left of the work. */
export async function demo(options: { keep: boolean }): Promise<number> {
  const stage = setStage()
  const show = play()
  try {
    await Promise.race([perform(stage, show), interrupted()])
  } catch (cause) {
    show.promise('the demo itself runs to its end', false, cause instanceof Error ? cause.message : String(cause))
  } finally {
    await strike(stage, show, options.keep)
  }
  return show.finish()
}

/** Ctrl-C ends the demo, but not without cleaning up. */
function interrupted(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => reject(new Error(`it was interrupted by ${signal}; cleaning up`)))
    }
  })
}

async function perform(stage: Stage, show: Play): Promise<void> {
  const prompt = `Write ${STEPS} lines, one at a time. steps=${STEPS} delay=${await paceOn(stage)}ms write=work.txt`
  show.say(`$ oneshot run --agent demo "${prompt}"`)
  const { stdout, stderr } = await stage.oneshot('run', '--agent', 'demo', '--name', 'show', prompt)
  const name = stdout.trim()
  if (name === '') throw new Error(stderr.trim())
  const first = await runningAfter(stage, name, 0)
  show.say(`${name} is running as pid ${first.pid}`)

  await linesWritten(stage, 3)
  show.act(`kill -9 ${first.pid}   the agent, in the middle of step ${countLines(stage) + 1}`)
  const killedAt = Date.now()
  process.kill(first.pid, 'SIGKILL')
  const second = await runningAfter(stage, name, first.pid)
  show.promise(
    'a killed agent comes back in the same thread',
    second.thread === first.thread && second.pid !== first.pid,
    `pid ${first.pid} → ${second.pid} after ${formatDuration(Date.now() - killedAt)}, thread ${second.thread}`,
  )

  await linesWritten(stage, 6)
  const before = await stage.supervisor()
  if (before === undefined) throw new Error('there is no supervisor')
  show.act(`kill -9 ${before.pid}   the supervisor`)
  process.kill(before.pid, 'SIGKILL')
  const after = await until(async () => {
    const now = await stage.supervisor()
    return now !== undefined && now.epoch > before.epoch ? now : undefined
  })
  const third = await stage.status(name)
  show.promise(
    'a killed supervisor comes back, and the agent did not notice',
    after !== undefined && third.pid === second.pid,
    `supervisor pid ${before.pid} → ${after?.pid ?? 'none'}, epoch ${before.epoch} → ${after?.epoch ?? 'none'}, agent still pid ${third.pid}`,
  )

  const server = await stage.tmuxServer()
  show.act(`kill -9 ${server}   the tmux server`)
  process.kill(server, 'SIGKILL')
  const reopened = await until(async () => {
    const now = await stage.tmuxServer().catch(() => Number.NaN)
    return Number.isInteger(now) && now > 0 && now !== server ? now : undefined
  })
  const fourth = await stage.status(name)
  show.promise(
    'a killed tmux server takes no work with it',
    fourth.pid === second.pid && reopened !== undefined,
    `agent still pid ${fourth.pid}, panes are back on tmux pid ${reopened ?? 'none'}`,
  )

  await examine(stage, show, name)
}

/** Milliseconds for a step of the agent: on a busy machine, too, it is still at work when everything around it was killed. */
async function paceOn(stage: Stage): Promise<number> {
  const begun = Date.now()
  await stage.oneshot('version')
  return Math.min(5_000, Math.max(400, 6 * (Date.now() - begun)))
}

async function examine(stage: Stage, show: Play, name: string): Promise<void> {
  show.say(`$ oneshot wait ${name}`)
  const waited = await stage.oneshot('wait', name, '--timeout', '60s')
  const end = await stage.status(name)
  show.promise(
    'the work is finished, and it says so',
    waited.code === 0 && end.outcome === 'done',
    `${end.outcome}: ${end.reason}`,
  )
  const expected = Array.from({ length: STEPS }, (_, i) => `step ${i + 1}\n`).join('')
  const work = fs.readFileSync(path.join(stage.project, 'work.txt'), 'utf8')
  show.promise(
    'nothing was lost and nothing done twice',
    work === expected,
    `work.txt holds ${work.split('\n').length - 1} of ${STEPS} lines, in order`,
  )
  const records = [1, 2].map(attempt => exitRecord(stage, end.id, attempt))
  const areTrue = records[0] === 'status 137, signalled yes' && records[1] === 'status 0, signalled no'
  show.promise(
    'every life of the agent left an exit record',
    areTrue,
    records.map((record, i) => `attempt ${i + 1}: ${record}`).join('; '),
  )
  const { said, kept } = bytesOfLastAttempt(stage, end.id)
  show.promise(
    'no byte of its output is missing',
    said === kept,
    `the agent says it wrote ${said} bytes, the spool holds ${kept}`,
  )
  const left = await findTree({ marker: `${end.id}.2`, root: null })
  show.promise('nothing of it is left running', left.length === 0, `${left.length} processes`)
  show.say(`$ oneshot log ${name}`)
  show.quote((await stage.oneshot('log', name)).stdout)
}

/** Takes everything down again, whatever happened, and looks whether it is really gone. */
async function strike(stage: Stage, show: Play, keep: boolean): Promise<void> {
  await stage.oneshot('killall', '--yes')
  const supervisor = await stage.supervisor()
  await stage.oneshot('daemon', 'stop')
  const isGone =
    supervisor === undefined || (await until(async () => (isAlive(supervisor.pid) ? undefined : true), 10_000)) === true
  show.promise(
    'nothing is left behind',
    isGone,
    keep ? `files kept in ${path.dirname(stage.project)}` : 'supervisor stopped, files removed',
  )
  if (!keep) stage.remove()
}

async function runningAfter(stage: Stage, name: string, formerPid: number) {
  const view = await until(async () => {
    const now = await stage.status(name)
    return now.phase === 'running' && now.pid !== null && now.pid !== formerPid && now.thread !== null
      ? { ...now, pid: now.pid }
      : undefined
  })
  if (view === undefined) throw new Error(`${name} did not run: ${(await stage.status(name)).reason}`)
  return view
}

async function linesWritten(stage: Stage, count: number): Promise<void> {
  const isThere = await until(async () => (countLines(stage) >= count ? true : undefined))
  if (isThere === undefined) throw new Error(`the work stopped at line ${countLines(stage)}`)
}

function countLines(stage: Stage): number {
  const file = path.join(stage.project, 'work.txt')
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').length - 1 : 0
}

function exitRecord(stage: Stage, id: string, attempt: number): string {
  const { exit } = attemptFolder(stage.home, id, attempt)
  return fs.existsSync(exit) ? fs.readFileSync(exit, 'utf8').split('\n').slice(1, 3).join(', ') : 'none'
}

function bytesOfLastAttempt(stage: Stage, id: string): { said: number; kept: number } {
  const output = fs.readFileSync(attemptFolder(stage.home, id, 2).stdout)
  const lastLine = output.subarray(output.subarray(0, -1).lastIndexOf(0x0a) + 1)
  return { said: (JSON.parse(lastLine.toString()) as { bytes: number }).bytes, kept: output.length - lastLine.length }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
