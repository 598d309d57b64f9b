import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { hasCode } from '../../../src/lib/errors.ts'
import type { DemoEvent } from '../../../src/world/agents/demo/demo.ts'
import { DemoThread } from '../../../src/world/agents/demo/thread.ts'
import { testThreadId } from '../../../testkit/core/ids.ts'
import { Journal } from './journal.ts'
import { lineOf } from './numbered-line.ts'
import { hostileText } from './hostile-text.ts'
import { parseTurn, type TurnScript } from './turn-script.ts'

/**
 * The agent of the chaos suite. It speaks the demo agent's protocol and replaces it in the tested clone. It also keeps
 * a journal outside of oneshot's files, against which the suite checks oneshot's records.
 */
export async function demoAgent(argv: readonly string[]): Promise<void> {
  const { CHAOS_JOURNAL: file = '', ONESHOT_ATTEMPT: attempt = '', ONESHOT_DEMO_THREADS: threads = '' } = process.env
  const text = fs.readFileSync(0, 'utf8')
  const resumed = optionValue('--resume', argv)
  const thread = new DemoThread(threads, testThreadId(resumed ?? optionValue('--thread', argv) ?? ''))
  const journal = new Journal(file, attempt)
  journal.begin(file)
  const past = thread.readEntries()
  if (resumed !== undefined && past === undefined) {
    process.stderr.write(`no thread ${resumed}\n`)
    process.exitCode = 1
    return
  }
  thread.append({ kind: argv.includes('--go-on') && past !== undefined ? 'go-on' : 'prompt', text })
  await new AttemptRun(thread, journal, attempt).live(past !== undefined)
}

function optionValue(flag: string, argv: readonly string[]): string | undefined {
  return argv.includes(flag) ? argv[argv.indexOf(flag) + 1] : undefined
}

class AttemptRun {
  readonly #thread: DemoThread
  readonly #journal: Journal
  readonly #attempt: string
  #lines = 0
  #bytes = 0

  constructor(thread: DemoThread, journal: Journal, attempt: string) {
    this.#thread = thread
    this.#journal = journal
    this.#attempt = attempt
  }

  async live(isResumed: boolean): Promise<void> {
    await this.#say({ type: 'thread.started', thread: this.#thread.id, resumed: isResumed })
    const turn = this.#thread.currentTurn()
    const script = parseTurn(turn.find(memory => memory.kind === 'prompt')?.text ?? '')
    const done = turn.filter(memory => memory.kind === 'step').length
    if (script.hasLitter && done === 0) this.#litter()
    if (script.asks && !turn.some(memory => memory.kind === 'answer')) await this.#ask(script)
    for (let step = done + 1; step <= script.steps; step++) await this.#take(step, script)
    const messages = (this.#thread.readEntries() ?? []).filter(memory => memory.kind === 'prompt').length
    this.#journal.finished(messages)
    await this.#say({ type: 'turn.ended', ok: true, text: `${messages} messages read`, bytes: this.#bytes })
  }

  async #take(step: number, script: TurnScript): Promise<void> {
    await this.#say({ type: 'step', step, of: script.steps })
    if (script.isPoisoned) await this.#say({ type: 'tool', tool: 'read', gist: hostileText(step) })
    for (let line = 0; line < script.lines; line++) {
      const text = lineOf(this.#attempt, this.#lines + 1, script.size)
      await this.#say({ type: 'text', text })
      this.#journal.wrote(++this.#lines, this.#bytes)
    }
    if (script.crash === step) this.#crashOnce()
    await (script.hasTool ? this.#useTool(script.delay) : pause(script.delay))
    this.#thread.append({ kind: 'step', step })
  }

  #crashOnce(): void {
    if (this.#thread.currentTurn().some(memory => memory.kind === 'misfortune')) return
    this.#thread.append({ kind: 'misfortune', what: 'crash' })
    process.kill(process.pid, 'SIGKILL')
  }

  /** Runs a tool. The turn continues when the tool ends, also after a kill. */
  #useTool(delay: number): Promise<void> {
    return new Promise(resolve => {
      const tool = spawn('sleep', [String(delay / 1_000)], { stdio: 'ignore' })
      tool.once('close', () => resolve())
      tool.once('error', () => resolve())
      if (tool.pid !== undefined) this.#journal.tool(tool.pid)
    })
  }

  #litter(): void {
    const litter = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
    if (litter.pid !== undefined) this.#journal.tool(litter.pid)
    litter.unref()
  }

  async #ask(script: TurnScript): Promise<void> {
    await this.#say({ type: 'approval.requested', question: 'May I?' })
    await pause(script.delay * 2)
    this.#thread.append({ kind: 'answer', text: 'nobody answered' })
    await this.#say({ type: 'approval.answered', answer: 'nobody answered' })
  }

  async #say(event: DemoEvent): Promise<void> {
    const bytes = Buffer.from(`${JSON.stringify(event)}\n`)
    for (let written = 0; written < bytes.length; ) written += await writeSome(bytes.subarray(written))
    this.#bytes += bytes.length
  }
}

/** Writes bytes; waits for a full disk or a busy terminal. */
async function writeSome(bytes: Buffer): Promise<number> {
  for (;;) {
    try {
      return fs.writeSync(1, bytes)
    } catch (cause) {
      if (!hasCode(cause, 'ENOSPC', 'EAGAIN')) throw cause
      await pause(20)
    }
  }
}
