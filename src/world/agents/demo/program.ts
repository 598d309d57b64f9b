import { spawn } from 'node:child_process'
import crypto from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import readline from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import tty from 'node:tty'
import type { DemoEvent } from './events.ts'
import { type DemoScript, parseScript } from './script.ts'
import { Thread } from './thread.ts'

/**
 * The demo agent as a program: reads a prompt on stdin and works it off step by step. `--thread ID` begins a thread of that
 * name, `--resume ID` goes on with one, `--go-on` with what was begun in it.
 */
export async function demoAgent(argv: readonly string[]): Promise<void> {
  const text = fs.readFileSync(0, 'utf8')
  const resumed = wordAfter('--resume', argv)
  const folder =
    process.env['ONESHOT_DEMO_THREADS'] ?? path.join(os.tmpdir(), `oneshot-demo-${process.getuid?.() ?? 0}`)
  const thread = new Thread(folder, resumed ?? wordAfter('--thread', argv) ?? crypto.randomUUID())
  const past = thread.recall()
  if (resumed !== undefined && past === undefined) {
    process.stderr.write(`no thread ${resumed}\n`)
    process.exitCode = 1
    return
  }
  thread.remember({ kind: argv.includes('--go-on') && past !== undefined ? 'go-on' : 'prompt', text })
  say({ type: 'thread.started', thread: thread.id, resumed: past !== undefined })
  await work(thread)
}

function wordAfter(flag: string, argv: readonly string[]): string | undefined {
  return argv.includes(flag) ? argv[argv.indexOf(flag) + 1] : undefined
}

async function work(thread: Thread): Promise<void> {
  const turn = thread.turn()
  const prompt = turn.find(memory => memory.kind === 'prompt')?.text ?? ''
  const script = parseScript(prompt)
  const done = turn.filter(memory => memory.kind === 'step').length
  if (done === 0) say({ type: 'text', text: `I will work on: ${prompt.trim().split('\n')[0] ?? ''}` })
  else say({ type: 'text', text: `I continue after step ${done}.` })
  if (script.ask !== null && !turn.some(memory => memory.kind === 'answer')) await ask(thread, script)
  if (script.litter) litter()
  for (let step = done + 1; step <= script.steps; step++) await take(step, thread, script)
  const wrote = script.write === null ? '' : `, one line each in ${script.write}`
  const text = script.fail ? 'I could not do it.' : `All ${script.steps} steps are done${wrote}.`
  say({ type: 'turn.ended', ok: !script.fail, text, bytes: written })
}

async function take(step: number, thread: Thread, script: DemoScript): Promise<void> {
  say({ type: 'step', step, of: script.steps })
  if (script.talk > 0) say({ type: 'text', text: 'x'.repeat(script.talk) })
  await pause(script.delay)
  meet('crash', script.crashAlways ? step : script.crash, step, thread, script.crashAlways)
  if (meet('hang', script.hang, step, thread, false)) await new Promise(() => setInterval(() => undefined, 3_600_000))
  if (script.write !== null) {
    if (!isWritten(script.write, step)) fs.appendFileSync(script.write, `step ${step}\n`)
    say({ type: 'tool', tool: 'write', gist: `${script.write}: step ${step}`, path: script.write })
  }
  thread.remember({ kind: 'step', step })
}

/** Killed between the deed and its memory, it finds the line already there. */
function isWritten(file: string, step: number): boolean {
  return fs.existsSync(file) && fs.readFileSync(file, 'utf8').split('\n').includes(`step ${step}`)
}

/** A misfortune happens in its step, and only in one life unless it always does. */
function meet(what: 'crash' | 'hang', when: number | null, step: number, thread: Thread, isForEver: boolean): boolean {
  if (when !== step) return false
  const hasHappened = thread.turn().some(memory => memory.kind === 'misfortune' && memory.what === what)
  if (hasHappened && !isForEver) return false
  thread.remember({ kind: 'misfortune', what })
  if (what === 'crash') process.kill(process.pid, 'SIGKILL')
  return true
}

/** Asks on the terminal when there is one; without one it waits as long as it was told to and goes on unanswered. */
async function ask(thread: Thread, script: DemoScript): Promise<void> {
  say({ type: 'approval.requested', question: script.ask ?? '' })
  const patience = AbortSignal.timeout(script.patience)
  let answer = 'nobody answered'
  if (process.stdout.isTTY) {
    // Not a file stream: its next read of the terminal could not be called off, and would keep us alive.
    const input = new tty.ReadStream(fs.openSync('/dev/tty', 'r'))
    const terminal = readline.promises.createInterface({ input, output: process.stdout })
    answer = await terminal.question(`${script.ask} [y/n] `, { signal: patience }).catch(() => answer)
    terminal.close()
    input.destroy()
  } else {
    await pause(script.patience)
  }
  thread.remember({ kind: 'answer', text: answer })
  say({ type: 'approval.answered', answer })
}

function litter(): void {
  spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).unref()
}

let written = 0

function say(event: DemoEvent): void {
  const line = `${JSON.stringify(event)}\n`
  fs.writeFileSync(1, line)
  written += Buffer.byteLength(line)
}
