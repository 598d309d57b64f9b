import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import type { SessionView } from '../../../src/api/contract/responses.ts'
import type { ModelServer } from '../../../testkit/model/model-server.ts'
import type { RunResult } from '../../../src/os/run.ts'
import { TestHome } from '../../system/test-home.ts'
import { bareArguments } from './bare-arguments.ts'
import { startProgram, type Running } from './start-program.ts'
import { writeModelSettings } from './model-settings.ts'
import { binFolderOf, type Kind, program } from './programs.ts'
import { type LeftoverProcess, leftoverProcesses } from './leftover-processes.ts'
import { KEY, AGENT_ENVIRONMENT } from './agent-environment.ts'

export interface AgentTestHomeOptions {
  /** The script that all programs are played, unless an environment from `playing` says otherwise. */
  readonly script?: string
  /** The programs on PATH; of two with the same command the first is found. */
  readonly kinds?: readonly Kind[]
}

export interface BareRun {
  readonly prompt: string
  readonly script?: string
  /** The thread to go on with. */
  readonly resume?: string
  /** Instead of the usual ones. */
  readonly args?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  /** Milliseconds after which it is killed. */
  readonly timeout?: number
}

/**
 * A house in which the real agent programs live, and speak with a scripted model alone: nothing of the person who runs
 * the tests is seen by them. The project is a git repository with one commit.
 */
export class AgentTestHome extends TestHome {
  readonly #server: ModelServer

  constructor(server: ModelServer, { script = 'main', kinds = ALL_KINDS }: AgentTestHomeOptions = {}) {
    super()
    this.#server = server
    for (const name of Object.keys(this.env)) if (!HOME_VARIABLES.includes(name)) delete this.env[name]
    const folders = [...kinds.map(binFolderOf), path.dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin']
    const own = { PATH: folders.join(':'), TMPDIR: this.#at('tmp'), ...modelAddresses(server.url(script)) }
    Object.assign(this.env, AGENT_ENVIRONMENT, own)
    fs.mkdirSync(own.TMPDIR)
    const config = path.join(this.root, 'config', 'opencode', 'opencode.json')
    const places = { codex: this.#at('.codex'), opencode: config, pi: this.#at('.pi', 'agent') }
    writeModelSettings(places, server.url(script))
    this.#acceptOnboarding()
    this.#makeRepository()
  }

  /** The environment in which the programs are played this script instead of the house's own. */
  environmentFor(script: string): NodeJS.ProcessEnv {
    const folder = this.#at('models', script)
    const places = { codex: `${folder}/codex`, opencode: `${folder}/opencode.json`, pi: `${folder}/pi` }
    writeModelSettings(places, this.#server.url(script))
    return {
      ...modelAddresses(this.#server.url(script)),
      CODEX_HOME: places.codex,
      OPENCODE_CONFIG: places.opencode,
      PI_CODING_AGENT_DIR: places.pi,
    }
  }

  /** Runs a program without oneshot, to its end. */
  runBare(kind: Kind, how: BareRun): Promise<RunResult> {
    return this.startBare(kind, how).ended
  }

  /** Starts a program without oneshot. */
  startBare(kind: Kind, { prompt, script, resume, args, env, cwd, timeout = 120_000 }: BareRun): Running {
    const chosen = script === undefined ? {} : this.environmentFor(script)
    return startProgram({
      argv: [program(kind), ...(args ?? bareArguments(kind, resume))],
      cwd: cwd ?? this.project,
      env: { ...this.env, PATH: `${binFolderOf(kind)}:${this.env['PATH']}`, ...chosen, ...env },
      input: prompt,
      timeout,
      records: fs.mkdtempSync(this.#at('bare-')),
    })
  }

  /** The agents' processes of this house and their tools; oneshot and its tmux servers do not count. */
  processesLeft(): LeftoverProcess[] {
    return leftoverProcesses(this.root, this.home.programs)
  }

  /** Runs git in the project, as its user would. */
  git(...args: string[]): string {
    return execFileSync('git', args, { cwd: this.project, env: this.env, encoding: 'utf8' })
  }

  /** Programs such as opencode take their time on a busy machine. */
  override ended(name: string): Promise<SessionView> {
    return super.ended(name, 180_000)
  }

  #at(...names: string[]): string {
    return path.join(this.root, ...names)
  }

  /** What a person would be asked at the first start, before any model is. */
  #acceptOnboarding(): void {
    const claude = {
      hasCompletedOnboarding: true,
      customApiKeyResponses: { approved: [KEY], rejected: [] },
      projects: { [this.project]: { hasTrustDialogAccepted: true } },
    }
    fs.writeFileSync(this.#at('.claude.json'), JSON.stringify(claude))
    // gemini 0.61 asks a model which model to ask, unless it is told one.
    const gemini = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      model: { name: 'mock-model' },
      general: { maxAttempts: 2, retryFetchErrors: false }, // Else it tries again by itself for minutes.
    }
    fs.mkdirSync(this.#at('.gemini'))
    fs.writeFileSync(this.#at('.gemini', 'settings.json'), JSON.stringify(gemini))
  }

  #makeRepository(): void {
    this.git('init', '--quiet', '--initial-branch=main')
    fs.writeFileSync(this.path('README.md'), '# A project\n')
    this.git('add', '.')
    this.git('commit', '--quiet', '-m', 'Begin')
  }
}

/** For the programs that take the model's address from their environment. */
function modelAddresses(url: string): Record<string, string> {
  return { ANTHROPIC_BASE_URL: url, GOOGLE_GEMINI_BASE_URL: url }
}

const ALL_KINDS: readonly Kind[] = ['claude', 'codex', 'opencode', 'pi', 'gemini']
const HOME_VARIABLES = ['ONESHOT_HOME', 'HOME', 'XDG_CONFIG_HOME', 'NO_COLOR']
