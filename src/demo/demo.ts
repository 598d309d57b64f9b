import fs from 'node:fs'
import path from 'node:path'
import { count, object, parseJson } from '../lib/codec.ts'
import { formatDuration } from '../lib/time.ts'
import { type SessionId, attemptFolder } from '../state/session-folder.ts'
import { findProcessTree } from '../os/process/tree.ts'
import { type DemoReport, createReport } from './report.ts'
import { createSandbox, type DemoSandbox, pollUntil } from './sandbox.ts'

const LINE_COUNT = 12

/**
 * Demonstrates the guarantees on the real product: kills the agent, the supervisor and tmux, and checks that no work is
 * lost.
 */
export async function demo(options: { keep: boolean }): Promise<number> {
  const sandbox = createSandbox()
  const report = createReport()
  try {
    await Promise.race([runScenario(sandbox, report), rejectOnInterrupt()])
  } catch (cause) {
    report.check('the demo itself runs to its end', false, cause instanceof Error ? cause.message : String(cause))
  } finally {
    await cleanUp(sandbox, report, options.keep)
  }
  return report.finish()
}

/** Ctrl-C ends the demo after it has cleaned up. */
function rejectOnInterrupt(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => reject(new Error(`it was interrupted by ${signal}; cleaning up`)))
    }
  })
}

async function runScenario(sandbox: DemoSandbox, report: DemoReport): Promise<void> {
  const prompt = `Write ${LINE_COUNT} lines, one at a time. steps=${LINE_COUNT} delay=${await measureStepDelay(sandbox)}ms write=work.txt`
  report.note(`$ oneshot run --agent demo "${prompt}"`)
  const { stdout, stderr } = await sandbox.oneshot('run', '--agent', 'demo', '--name', 'show', prompt)
  const name = stdout.trim()
  if (name === '') throw new Error(stderr.trim())
  const first = await waitForNewProcess(sandbox, name, 0)
  report.note(`${name} is running as pid ${first.pid}`)

  await waitForLines(sandbox, 3)
  report.announce(`kill -9 ${first.pid}   the agent, in the middle of step ${countLines(sandbox) + 1}`)
  const killedAt = Date.now()
  process.kill(first.pid, 'SIGKILL')
  const second = await waitForNewProcess(sandbox, name, first.pid)
  report.check(
    'a killed agent comes back in the same thread',
    second.thread === first.thread && second.pid !== first.pid,
    `pid ${first.pid} → ${second.pid} after ${formatDuration(Date.now() - killedAt)}, thread ${second.thread}`,
  )

  await waitForLines(sandbox, 6)
  const before = await sandbox.supervisor()
  if (before === undefined) throw new Error('there is no supervisor')
  report.announce(`kill -9 ${before.pid}   the supervisor`)
  process.kill(before.pid, 'SIGKILL')
  const after = await pollUntil(async () => {
    const now = await sandbox.supervisor()
    return now !== undefined && now.epoch > before.epoch ? now : undefined
  })
  const third = await sandbox.status(name)
  report.check(
    'a killed supervisor comes back, and the agent did not notice',
    after !== undefined && third.pid === second.pid,
    `supervisor pid ${before.pid} → ${after?.pid ?? 'none'}, epoch ${before.epoch} → ${after?.epoch ?? 'none'}, agent still pid ${third.pid}`,
  )

  const server = await sandbox.tmuxServer()
  report.announce(`kill -9 ${server}   the tmux server`)
  process.kill(server, 'SIGKILL')
  const reopened = await pollUntil(async () => {
    const now = await sandbox.tmuxServer().catch(() => Number.NaN)
    return Number.isInteger(now) && now > 0 && now !== server ? now : undefined
  })
  const fourth = await sandbox.status(name)
  report.check(
    'a killed tmux server takes no work with it',
    fourth.pid === second.pid && reopened !== undefined,
    `agent still pid ${fourth.pid}, panes are back on tmux pid ${reopened ?? 'none'}`,
  )

  await verifyOutcome(sandbox, report, name)
}

/**
 * Returns the milliseconds per step of the agent, so that even on a busy machine the agent still works after all kills.
 */
async function measureStepDelay(sandbox: DemoSandbox): Promise<number> {
  const startedAt = Date.now()
  await sandbox.oneshot('version')
  return Math.min(5_000, Math.max(400, 6 * (Date.now() - startedAt)))
}

async function verifyOutcome(sandbox: DemoSandbox, report: DemoReport, name: string): Promise<void> {
  report.note(`$ oneshot wait ${name}`)
  const waited = await sandbox.oneshot('wait', name, '--timeout', '60s')
  const end = await sandbox.status(name)
  report.check(
    'the work is finished, and it says so',
    waited.code === 0 && end.outcome === 'done',
    `${end.outcome}: ${end.reason}`,
  )
  const expected = Array.from({ length: LINE_COUNT }, (_, i) => `step ${i + 1}\n`).join('')
  const work = fs.readFileSync(path.join(sandbox.project, 'work.txt'), 'utf8')
  report.check(
    'nothing was lost and nothing done twice',
    work === expected,
    `work.txt holds ${work.split('\n').length - 1} of ${LINE_COUNT} lines, in order`,
  )
  const records = [1, 2].map(attempt => readExitRecord(sandbox, end.id, attempt))
  const areTrue = records[0] === 'status 137, signalled yes' && records[1] === 'status 0, signalled no'
  report.check(
    'every attempt of the agent left an exit record',
    areTrue,
    records.map((record, i) => `attempt ${i + 1}: ${record}`).join('; '),
  )
  const { said, kept } = countOutputBytes(sandbox, end.id)
  report.check(
    'no byte of its output is missing',
    said === kept,
    `the agent says it wrote ${said} bytes, the spool holds ${kept}`,
  )
  const left = await findProcessTree({ marker: `${end.id}.2`, root: null })
  report.check('nothing of it is left running', left.length === 0, `${left.length} processes`)
  report.note(`$ oneshot log ${name}`)
  report.showOutput((await sandbox.oneshot('log', name)).stdout)
}

/** Removes everything, whatever happened, and checks that it is gone. */
async function cleanUp(sandbox: DemoSandbox, report: DemoReport, keep: boolean): Promise<void> {
  await sandbox.oneshot('killall', '--yes')
  const supervisor = await sandbox.supervisor()
  await sandbox.oneshot('daemon', 'stop')
  const isGone =
    supervisor === undefined ||
    (await pollUntil(async () => (isAlive(supervisor.pid) ? undefined : true), 10_000)) === true
  report.check(
    'nothing is left behind',
    isGone,
    keep ? `files kept in ${path.dirname(sandbox.project)}` : 'supervisor stopped, files removed',
  )
  if (!keep) sandbox.remove()
}

async function waitForNewProcess(sandbox: DemoSandbox, name: string, formerPid: number) {
  const view = await pollUntil(async () => {
    const now = await sandbox.status(name)
    return now.phase === 'running' && now.pid !== null && now.pid !== formerPid && now.thread !== null
      ? { ...now, pid: now.pid }
      : undefined
  })
  if (view === undefined) throw new Error(`${name} did not run: ${(await sandbox.status(name)).reason}`)
  return view
}

async function waitForLines(sandbox: DemoSandbox, count: number): Promise<void> {
  const hasLines = await pollUntil(async () => (countLines(sandbox) >= count ? true : undefined))
  if (hasLines === undefined) throw new Error(`the work stopped at line ${countLines(sandbox)}`)
}

function countLines(sandbox: DemoSandbox): number {
  const file = path.join(sandbox.project, 'work.txt')
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').length - 1 : 0
}

function readExitRecord(sandbox: DemoSandbox, id: SessionId, attempt: number): string {
  const { exit } = attemptFolder(sandbox.home, id, attempt)
  return fs.existsSync(exit) ? fs.readFileSync(exit, 'utf8').split('\n').slice(1, 3).join(', ') : 'none'
}

function countOutputBytes(sandbox: DemoSandbox, id: SessionId): { said: number; kept: number } {
  const output = fs.readFileSync(attemptFolder(sandbox.home, id, 2).stdout)
  const lastLine = output.subarray(output.subarray(0, -1).lastIndexOf(0x0a) + 1)
  return { said: parseJson(lastLine.toString(), object({ bytes: count })).bytes, kept: output.length - lastLine.length }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
