import { spawn } from 'node:child_process'
import os from 'node:os'
import readline from 'node:readline'
import type { Readable } from 'node:stream'
import type { RunRequest } from '../api/contract/run-request.ts'
import { classifyExit } from '../core/policy/exit-policy.ts'
import type { Exit, TurnResult, ParserState } from '../core/session/attempt.ts'
import { stripControls, toOneLine } from '../lib/text/strip-terminal-controls.ts'
import type { Agent } from '../ports/agent.ts'
import { locateHome } from '../state/home.ts'
import { buildSpec, firstLaunchRequest } from './session-spec.ts'
import { createAgents } from './compose.ts'

/** Runs the agent in this terminal without a session or a supervisor. Returns its exit code. */
export async function runUnsupervised(request: RunRequest): Promise<number> {
  const agents = createAgents(locateHome(process.env))
  const { spec, prompt } = buildSpec(request, { agents, live: [], isNameUsed: () => false, now: Date.now() })
  const agent = agents(spec.agent)
  const launchPlan = agent.planLaunch(firstLaunchRequest(spec, request.env))
  const [program = '', ...args] = launchPlan.argv
  const child = spawn(program, args, {
    cwd: spec.cwd,
    env: { ...request.env, ...launchPlan.env },
    stdio: [
      launchPlan.stdin === 'none' ? 'inherit' : 'pipe',
      agent.readLine === undefined ? 'inherit' : 'pipe',
      'inherit',
    ],
  })
  // The terminal sends Ctrl-C to the program; this process stays to pass its exit code on.
  const ignoreInterrupt = (): void => undefined
  process.on('SIGINT', ignoreInterrupt)
  // The program ended without reading its prompt; its exit code explains the rest.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(prompt ?? undefined)
  const turnResult = child.stdout === null ? Promise.resolve(null) : streamOutput(child.stdout, agent)
  try {
    const exit = await new Promise<Exit>((resolve, reject) => {
      child.on('error', reject)
      child.on('exit', (code, signal) =>
        resolve(code === null ? { kind: 'signal', signal: signal ?? 'SIGKILL' } : { kind: 'code', code }),
      )
    })
    return exitStatus(agent, exit, await turnResult)
  } finally {
    process.off('SIGINT', ignoreInterrupt)
  }
}

/** Prints the agent's output in readable form; returns its last turn result. */
async function streamOutput(stdout: Readable, agent: Agent): Promise<TurnResult | null> {
  let adapterState: ParserState = {}
  let turnResult: TurnResult | null = null
  for await (const line of readline.createInterface({ input: stdout, crlfDelay: Number.POSITIVE_INFINITY })) {
    const parsed = agent.readLine?.(line, adapterState)
    adapterState = parsed?.memory ?? adapterState
    if (parsed?.text) process.stdout.write(stripControls(parsed.text, { colour: false }))
    for (const observation of parsed?.observations ?? []) {
      if (observation.type === 'finished') turnResult = observation.word
      if (observation.type === 'began') turnResult = null
    }
  }
  return turnResult
}

/** Returns the agent's exit code, but 1 for an agent that exits with 0 without success. */
function exitStatus(agent: Agent, exit: Exit, turnResult: TurnResult | null): number {
  if (exit.kind === 'signal') return 128 + os.constants.signals[exit.signal as NodeJS.Signals]
  const code = exit.kind === 'code' ? exit.code : 1
  const classified = classifyExit(agent.proof, { exit, result: turnResult })
  if (classified.kind === 'done' || code !== 0) return code
  process.stderr.write(`oneshot: ${toOneLine(classified.reason)}\n`)
  return 1
}
