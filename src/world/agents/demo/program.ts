import { spawn } from 'node:child_process'
import crypto from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import readline from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import tty from 'node:tty'
import { threadId } from '../../../core/session/conversation.ts'
import type { DemoEvent } from './demo.ts'
import { type DemoScript, parseScript } from './parse-directives.ts'
import { DemoThread } from './thread.ts'

/**
 * Runs the demo agent as a program: it reads a prompt on stdin and performs its steps one by one. `--thread ID` begins
 * a thread with that id, `--resume ID` resumes one, and `--go-on` continues its unfinished turn.
 */
export async function demoAgent(argv: readonly string[]): Promise<void> {
  const text = fs.readFileSync(0, 'utf8')
  const resumed = optionValue('--resume', argv)
  const folder =
    process.env['ONESHOT_DEMO_THREADS'] ?? path.join(os.tmpdir(), `oneshot-demo-${process.getuid?.() ?? 0}`)
  const thread = new DemoThread(folder, threadId(resumed ?? optionValue('--thread', argv) ?? crypto.randomUUID()))
  const entries = thread.readEntries()
  if (resumed !== undefined && entries === undefined) {
    process.stderr.write(`no thread ${resumed}\n`)
    process.exitCode = 1
    return
  }
  thread.append({ kind: argv.includes('--go-on') && entries !== undefined ? 'go-on' : 'prompt', text })
  emit({ type: 'thread.started', thread: thread.id, resumed: entries !== undefined })
  await runTurn(thread)
}

function optionValue(flag: string, argv: readonly string[]): string | undefined {
  return argv.includes(flag) ? argv[argv.indexOf(flag) + 1] : undefined
}

async function runTurn(thread: DemoThread): Promise<void> {
  const turn = thread.currentTurn()
  const prompt = turn.find(entry => entry.kind === 'prompt')?.text ?? ''
  const script = parseScript(prompt)
  const done = turn.filter(entry => entry.kind === 'step').length
  if (done === 0) emit({ type: 'text', text: `I will work on: ${prompt.trim().split('\n')[0] ?? ''}` })
  else emit({ type: 'text', text: `I continue after step ${done}.` })
  if (script.ask !== null && !turn.some(entry => entry.kind === 'answer')) await ask(thread, script)
  if (script.litter) leaveProcess()
  for (let step = done + 1; step <= script.steps; step++) await runStep(step, thread, script)
  const wrote = script.write === null ? '' : `, one line each in ${script.write}`
  const text = script.fail ? 'I could not do it.' : `All ${script.steps} steps are done${wrote}.`
  emit({ type: 'turn.ended', ok: !script.fail, text, bytes: bytesWritten })
}

async function runStep(step: number, thread: DemoThread, script: DemoScript): Promise<void> {
  emit({ type: 'step', step, of: script.steps })
  if (script.talk > 0) emit({ type: 'text', text: 'x'.repeat(script.talk) })
  await pause(script.delay)
  failOnce('crash', script.crashAlways ? step : script.crash, step, thread, script.crashAlways)
  if (failOnce('hang', script.hang, step, thread, false))
    await new Promise(() => setInterval(() => undefined, 3_600_000))
  if (script.write !== null) {
    if (!isWritten(script.write, step)) fs.appendFileSync(script.write, `step ${step}\n`)
    emit({ type: 'tool', tool: 'write', gist: `${script.write}: step ${step}`, path: script.write })
  }
  thread.append({ kind: 'step', step })
}

/** After a kill between the write and its thread entry, the line is already in the file. */
function isWritten(file: string, step: number): boolean {
  return fs.existsSync(file) && fs.readFileSync(file, 'utf8').split('\n').includes(`step ${step}`)
}

/** Returns true if the failure happens in this step: once per prompt, or in every process if `isRepeated`. */
function failOnce(
  what: 'crash' | 'hang',
  failingStep: number | null,
  step: number,
  thread: DemoThread,
  isRepeated: boolean,
): boolean {
  if (failingStep !== step) return false
  const hasHappened = thread.currentTurn().some(entry => entry.kind === 'misfortune' && entry.what === what)
  if (hasHappened && !isRepeated) return false
  thread.append({ kind: 'misfortune', what })
  if (what === 'crash') process.kill(process.pid, 'SIGKILL')
  return true
}

/** Asks on the terminal if there is one; without one it waits for the scripted time and continues without an answer. */
async function ask(thread: DemoThread, script: DemoScript): Promise<void> {
  emit({ type: 'approval.requested', question: script.ask ?? '' })
  const timeout = AbortSignal.timeout(script.patience)
  let answer = 'nobody answered'
  if (process.stdout.isTTY) {
    // A file stream would not work: its pending read of the terminal cannot be cancelled and would keep the process
    // alive.
    const input = new tty.ReadStream(fs.openSync('/dev/tty', 'r'))
    const terminal = readline.promises.createInterface({ input, output: process.stdout })
    answer = await terminal.question(`${script.ask} [y/n] `, { signal: timeout }).catch(() => answer)
    terminal.close()
    input.destroy()
  } else {
    await pause(script.patience)
  }
  thread.append({ kind: 'answer', text: answer })
  emit({ type: 'approval.answered', answer })
}

function leaveProcess(): void {
  spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).unref()
}

let bytesWritten = 0

function emit(event: DemoEvent): void {
  const line = `${JSON.stringify(event)}\n`
  fs.writeFileSync(1, line)
  bytesWritten += Buffer.byteLength(line)
}
