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
  /** The model script for all programs, unless an environment from `environmentFor` names another. */
  readonly script?: string
  /** The programs on PATH; of two with the same command, the first counts. */
  readonly kinds?: readonly Kind[]
}

export interface BareRun {
  readonly prompt: string
  readonly script?: string
  /** The thread to resume. */
  readonly resume?: string
  /** Replaces the usual arguments. */
  readonly args?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  /** Milliseconds after which the program is killed. */
  readonly timeout?: number
}

/**
 * A home for the real agent programs, which talk only to a scripted model and see nothing of the user who runs the
 * tests. The project is a git repository with one commit.
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

  /** Returns an environment in which the model plays this script instead of the home's own. */
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

  /** Runs a program to its end without oneshot. */
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

  /** Lists the processes of this home's agents and their tools, without oneshot and its tmux servers. */
  processesLeft(): LeftoverProcess[] {
    return leftoverProcesses(this.root, this.home.programs)
  }

  /** Runs git in the project as its user does. */
  git(...args: string[]): string {
    return execFileSync('git', args, { cwd: this.project, env: this.env, encoding: 'utf8' })
  }

  /** Waits longer: programs such as opencode are slow on a busy machine. */
  override ended(name: string): Promise<SessionView> {
    return super.ended(name, 180_000)
  }

  #at(...names: string[]): string {
    return path.join(this.root, ...names)
  }

  /** Answers the questions of the first start in advance. */
  #acceptOnboarding(): void {
    const claude = {
      hasCompletedOnboarding: true,
      customApiKeyResponses: { approved: [KEY], rejected: [] },
      projects: { [this.project]: { hasTrustDialogAccepted: true } },
    }
    fs.writeFileSync(this.#at('.claude.json'), JSON.stringify(claude))
    // gemini 0.61 asks a model to choose the model unless the settings name one.
    const gemini = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      model: { name: 'mock-model' },
      general: { maxAttempts: 2, retryFetchErrors: false }, // Otherwise it retries for minutes.
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

/** Returns the variables of programs that read the model's address from their environment. */
function modelAddresses(url: string): Record<string, string> {
  return { ANTHROPIC_BASE_URL: url, GOOGLE_GEMINI_BASE_URL: url }
}

const ALL_KINDS: readonly Kind[] = ['claude', 'codex', 'opencode', 'pi', 'gemini']
const HOME_VARIABLES = ['ONESHOT_HOME', 'HOME', 'XDG_CONFIG_HOME', 'NO_COLOR']
