import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { toWire } from '../../src/api/client.ts'
import type { RunRequest } from '../../src/api/contract/run-request.ts'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { threadId } from '../../src/core/session/conversation.ts'
import type { LaunchPlan } from '../../src/ports/agent.ts'
import { ModelServer } from '../../testkit/model/model-server.ts'
import { knownAgents } from '../../src/world/agents/agents.ts'
import { attemptFolder, sessionFolder } from '../../src/state/session-folder.ts'
import { type Kind, program } from '../../test/agents/kit/programs.ts'
import { waitForEndRecord } from '../measure/wait-for-end-record.ts'
import { timeProgram } from '../measure/time-program.ts'
import { callApi } from '../product/api.ts'
import type { BenchHome } from '../product/bench-home.ts'
import type { ProductClone } from '../product/clone.ts'
import { makeRepository, agentEnvironment } from './environment.ts'

const PROMPT = 'Say one short sentence.'
const SENTENCE = 'All is well here.'

/** Runs the same trivial turn of an agent in three ways, with one project, one home and one scripted model for all. */
export class Turns {
  readonly #home: BenchHome
  readonly #server: ModelServer
  readonly #env: Record<string, string>
  readonly #records: string
  readonly #plan: (kind: Kind) => LaunchPlan

  static async open(home: BenchHome, clone: ProductClone, kinds: readonly Kind[]): Promise<Turns> {
    return new Turns(home, clone, await ModelServer.open({ turn: [{ say: SENTENCE, times: 'ever' }] }), kinds)
  }

  private constructor(home: BenchHome, clone: ProductClone, server: ModelServer, kinds: readonly Kind[]) {
    this.#home = home
    this.#server = server
    this.#records = path.join(clone.root, 'turns')
    fs.mkdirSync(this.#records)
    fs.writeFileSync(path.join(this.#records, 'prompt'), PROMPT)
    const ours = { ONESHOT_HOME: home.home.root, ONESHOT_BENCH: clone.root }
    this.#env = { ...agentEnvironment(path.join(clone.root, 'agents-user'), server.url('turn'), kinds), ...ours }
    makeRepository(home.project, this.#env)
    this.#plan = kind => planOf(kind, { clone, cwd: home.project, env: this.#env })
  }

  /** Returns the milliseconds from spawn to exit of the program without oneshot, with the arguments of its adapter. */
  alone(kind: Kind): Promise<number> {
    const { argv, env } = this.#plan(kind)
    const [first = '', ...args] = argv
    return this.#timed({ program: first, args, env: { ...this.#env, ...env } })
  }

  /**
   * Returns the milliseconds from the API call to the stored end of the session, and how many of them passed outside of
   * the program, according to the files that record its start and end.
   */
  async session(kind: Kind): Promise<{ took: number; outside: number }> {
    const { home, project } = this.#home
    const prompt = Buffer.from(PROMPT).toString('base64')
    const place = { cwd: project, env: this.#env }
    const body: RunRequest = {
      agent: kind,
      argv: [],
      prompt,
      ...place,
      supervision: { maxTime: null },
      ...modelOf(kind),
    }
    const begun = performance.now()
    const request = { method: 'POST', path: '/v1/sessions', body: toWire(body) } as const
    const { id } = await callApi<SessionView>(home.daemonSocket, request)
    const { at, session } = await waitForEndRecord(sessionFolder(home, id))
    const { phase } = session
    if (phase.name !== 'ended' || phase.outcome !== 'done') throw new Error(`its turn failed: ${JSON.stringify(phase)}`)
    const { started, exit } = attemptFolder(home, id, 1)
    const inside = fs.statSync(exit).mtimeMs - fs.statSync(started).mtimeMs
    await this.#home.clean()
    return { took: at - begun, outside: at - begun - inside }
  }

  /** Returns the milliseconds from spawn to exit of `run --follow`. */
  async follow(kind: Kind): Promise<number> {
    const { model } = modelOf(kind)
    const options = ['--agent', kind, ...(model === undefined ? [] : ['--model', model])]
    const { program: node, args } = this.#home.command('run', '--follow', ...options, PROMPT)
    const took = await this.#timed({ program: node, args, env: this.#env })
    await this.#home.clean()
    return took
  }

  async close(): Promise<void> {
    await this.#server.close()
  }

  /** Throws if the program did not print the expected sentence: such a run yields no figure. */
  async #timed(command: { program: string; args: readonly string[]; env: NodeJS.ProcessEnv }): Promise<number> {
    const [stdout, stderr] = ['stdout', 'stderr'].map(name => path.join(this.#records, name)) as [string, string]
    const files = { stdin: path.join(this.#records, 'prompt'), stdout, stderr }
    const { took, status } = await timeProgram({ ...command, cwd: this.#home.project }, files)
    const said = fs.readFileSync(stdout, 'utf8')
    if (status === 0 && said.includes(SENTENCE)) return took
    throw new Error(`${command.program} ended with ${status}: ${said.slice(-500)}${fs.readFileSync(stderr, 'utf8')}`)
  }
}

function planOf(
  kind: Kind,
  { clone, cwd, env }: { clone: ProductClone; cwd: string; env: Record<string, string> },
): LaunchPlan {
  const thin = path.join(path.dirname(clone.main), 'thin-pi.cjs')
  const agents = knownAgents({ demoArgv: [], loopArgv: [], demoThreads: '', thin })
  return agents(kind).planLaunch({
    argv: [program(kind)],
    mode: 'headless',
    cwd,
    env,
    resume: null,
    tag: threadId(crypto.randomUUID()),
    isContinuation: false,
    autonomy: 'full',
    model: modelOf(kind).model ?? null,
    effort: null,
    budget: { usd: null, turns: null },
  })
}

/** pi gets its model as an argument; the others read it from their settings. */
function modelOf(kind: Kind): { readonly model?: string } {
  return kind === 'pi' ? { model: 'mock/mock-model' } : {}
}
