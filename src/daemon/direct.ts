import { spawn } from 'node:child_process'
import os from 'node:os'
import readline from 'node:readline'
import type { Readable } from 'node:stream'
import type { RunRequest } from '../api/contract/requests.ts'
import { judgeEnd } from '../core/judge-end.ts'
import type { Exit, LastWord, Memory } from '../core/session.ts'
import { harmless, oneLine } from '../lib/terminal-text.ts'
import type { Agent } from '../ports/agent.ts'
import { locateHome } from '../world/os/home.ts'
import { accept, firstLaunch } from './accept.ts'
import { agentsFor } from './compose.ts'

/** Runs the agent in this terminal and nothing else: no session, no supervisor. Answers its exit code. */
export async function runDirect(request: RunRequest): Promise<number> {
  const agents = agentsFor(locateHome(process.env))
  const { spec, prompt } = accept(request, { agents, sessions: [], now: Date.now() })
  const agent = agents(spec.agent)
  const plan = agent.plan(firstLaunch(spec, request.env))
  const [program = '', ...args] = plan.argv
  const child = spawn(program, args, {
    cwd: spec.cwd,
    env: { ...request.env, ...plan.env },
    stdio: [plan.stdin === 'none' ? 'inherit' : 'pipe', agent.read === undefined ? 'inherit' : 'pipe', 'inherit'],
  })
  // Ctrl-C reaches the program by the terminal; we stay to pass its answer on.
  const stay = (): void => undefined
  process.on('SIGINT', stay)
  child.stdin?.on('error', () => undefined) // It ended without reading its prompt; its exit tells the rest.
  child.stdin?.end(prompt ?? undefined)
  const words = child.stdout === null ? Promise.resolve(null) : tell(child.stdout, agent)
  try {
    const exit = await new Promise<Exit>((resolve, reject) => {
      child.on('error', reject)
      child.on('exit', (code, signal) =>
        resolve(code === null ? { kind: 'signal', signal: signal ?? 'SIGKILL' } : { kind: 'code', code }),
      )
    })
    return answerOf(agent, exit, await words)
  } finally {
    process.off('SIGINT', stay)
  }
}

/** Shows what the agent says as a person would read it; answers its last word. */
async function tell(stdout: Readable, agent: Agent): Promise<LastWord | null> {
  let memory: Memory = {}
  let last: LastWord | null = null
  for await (const line of readline.createInterface({ input: stdout, crlfDelay: Number.POSITIVE_INFINITY })) {
    const reading = agent.read?.(line, memory)
    memory = reading?.memory ?? memory
    if (reading?.text) process.stdout.write(harmless(reading.text, { colour: false }))
    for (const observation of reading?.observations ?? []) {
      if (observation.type === 'finished') last = observation.word
      if (observation.type === 'began') last = null
    }
  }
  return last
}

/** An agent that exits with 0 without having succeeded does not pass for one that has. */
function answerOf(agent: Agent, exit: Exit, word: LastWord | null): number {
  if (exit.kind === 'signal') return 128 + os.constants.signals[exit.signal as NodeJS.Signals]
  const code = exit.kind === 'code' ? exit.code : 1
  const verdict = judgeEnd(agent.proof, { exit, word })
  if (verdict.kind === 'done' || code !== 0) return code
  process.stderr.write(`oneshot: ${oneLine(verdict.reason)}\n`)
  return 1
}
