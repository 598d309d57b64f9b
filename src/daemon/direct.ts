import { spawn } from 'node:child_process'
import os from 'node:os'
import type { RunRequest } from '../api/contract/requests.ts'
import { locateHome } from '../world/os/home.ts'
import { accept } from './accept.ts'
import { agentsFor } from './compose.ts'

/** Runs the agent in this terminal and nothing else: no session, no supervisor. Answers its exit code. */
export async function runDirect(request: RunRequest): Promise<number> {
  const agents = agentsFor(locateHome(process.env))
  const { spec, prompt } = accept(request, { agents, sessions: [], now: Date.now() })
  const plan = agents(spec.agent).plan({ argv: spec.argv, resume: null, mode: 'tty' })
  const [program = '', ...args] = plan.argv
  return new Promise((resolve, reject) => {
    const stdin = plan.stdin === 'none' ? 'inherit' : 'pipe'
    const child = spawn(program, args, {
      cwd: spec.cwd,
      env: { ...request.env, ...plan.env },
      stdio: [stdin, 'inherit', 'inherit'],
    })
    // Ctrl-C reaches the program by the terminal; we stay to pass its answer on.
    const stay = (): void => undefined
    process.on('SIGINT', stay)
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      process.off('SIGINT', stay)
      resolve(code ?? 128 + os.constants.signals[signal ?? 'SIGKILL'])
    })
    child.stdin?.on('error', () => undefined) // It ended without reading its prompt; its exit tells the rest.
    child.stdin?.end(prompt ?? undefined)
  })
}
