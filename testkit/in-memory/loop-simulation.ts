import path from 'node:path'
import { markChecklist, readChecklist } from '../../src/core/loop/list/checklist.ts'
import type { Loop } from '../../src/core/loop/loop-state.ts'
import type { LoopSpec } from '../../src/core/loop/spec.ts'
import { Trouble } from '../../src/lib/errors.ts'
import { createLoopContext } from '../../src/loop/context.ts'
import { runFromRecord } from '../../src/loop/run-from-record.ts'
import type { CheckResult, Checks } from '../../src/ports/checks.ts'
import type { ListBackup, TaskSource } from '../../src/ports/task-source.ts'
import type { Workers } from '../../src/ports/workers.ts'
import type { Worktrees } from '../../src/ports/worktrees.ts'
import { testSessionId } from '../core/ids.ts'
import { makeLoopSpec } from '../core/loop-fixtures.ts'
import { CrashInjector } from './call-interceptors.ts'
import { InMemoryGit } from './git.ts'
import { VirtualClock, flushPromises } from './virtual-clock.ts'
import { InMemoryWorkers, type WorkerScript } from './workers.ts'
import { InMemoryWorktrees } from './worktrees.ts'

/** The top of the user's checkout. */
export const PROJECT = '/project'
const LIST = 'PRD.md'

/** Calls that change something outside, or read a state that may change. */
const WORKTREE_CALLS = [
  'initRepository',
  'inspect',
  'snapshot',
  'collectEvidence',
  'diffTrees',
  'returnToBranch',
  'repair',
  'open',
  'commitAll',
  'merge',
  'startMerge',
  'commitPaths',
  'remove',
  'reset',
  'land',
  'backUpCommit',
  'backUpFiles',
] as const

export interface LoopSimulationOptions {
  readonly spec?: Partial<LoopSpec>
  /** The text of the task list. */
  readonly list: string
  /** Returns the steps of each worker; gets the simulation, whose working trees it may change. */
  readonly worker: (simulation: LoopSimulation) => WorkerScript
  /** The check: its failure for these files of a working tree, or null. */
  readonly check?: (files: ReadonlyMap<string, string>) => string | null
}

/** The outside of a loop in memory, and one program of the loop after the other. */
export class LoopSimulation {
  readonly clock = new VirtualClock()
  readonly git: InMemoryGit
  readonly workers: InMemoryWorkers
  readonly spec: LoopSpec
  /** Another serial loop in this checkout. */
  serialLoop: string | null = null
  /** The folders in which the check ran, in order. */
  readonly checked: string[] = []
  readonly #check: (files: ReadonlyMap<string, string>) => string | null
  #record: string | undefined
  #listCopy: string | null = null
  /** The copies of the list that the loop keeps for its user, by their names. */
  readonly keptLists = new Map<string, string>()
  #resumedAt = this.clock.now()
  #stoppedAt: number | undefined
  #ending = new AbortController()

  constructor({ spec = {}, list, worker, check = () => null }: LoopSimulationOptions) {
    this.spec = makeLoopSpec({ check: { line: 'test', why: 'as requested' }, ...spec })
    this.git = InMemoryGit.withFiles(PROJECT, { [LIST]: list })
    this.workers = new InMemoryWorkers(this.clock, worker(this))
    this.#check = check
  }

  get loop(): Loop {
    return JSON.parse(this.#record ?? 'null') as Loop
  }

  /** The files of the user's checkout. */
  get files(): Map<string, string> {
    return this.git.checkout(PROJECT).files
  }

  get list(): string {
    return this.files.get(LIST) ?? ''
  }

  /** Runs programs until the loop has ended or a user has stopped it. Each crash point kills one program. */
  async run(injectors: readonly CrashInjector[] = []): Promise<Loop> {
    for (const injector of [...injectors, new CrashInjector()]) {
      if (await this.#runProgram(injector)) break
    }
    return this.loop
  }

  /** Returns false if the program crashed. */
  async #runProgram(injector: CrashInjector): Promise<boolean> {
    const ending = new AbortController()
    this.#ending = ending
    const program: { isOver: boolean; failure?: unknown } = { isOver: false }
    void this.#program(injector, ending.signal).then(
      () => {
        program.isOver = true
      },
      cause => {
        program.failure = cause
        program.isOver = true
      },
    )
    await flushPromises()
    for (let turn = 0; !program.isOver && !injector.hasFailed; turn++) {
      const isMoving = await this.#runNextTimer(injector)
      if (!isMoving && !program.isOver && !injector.hasFailed)
        throw new Error(`the loop makes no progress: ${this.#record}`)
      if (turn > 10_000) throw new Error('the loop never ends')
    }
    ending.abort()
    await flushPromises()
    if (program.failure !== undefined && !injector.hasFailed) throw program.failure
    return !injector.hasFailed
  }

  /** A program may crash in a timer of its own. */
  async #runNextTimer(injector: CrashInjector): Promise<boolean> {
    try {
      return await this.clock.runNextTimer()
    } catch (cause) {
      if (injector.hasFailed) return true
      throw cause
    }
  }

  async #program(injector: CrashInjector, ending: AbortSignal): Promise<void> {
    const ports = {
      clock: injector.wrapClock(this.clock),
      taskSource: injector.wrap(this.#taskSource(), ['read', 'mark']),
      listBackup: injector.wrap(this.#listBackup(), ['save', 'keep', 'restore', 'overwrite']),
      worktrees: injector.wrap<Worktrees>(new InMemoryWorktrees(this.git), WORKTREE_CALLS),
      checks: injector.wrap(this.#checks(), ['run']),
      workers: injector.wrap<Workers>(this.workers, ['ensureRunning', 'resume', 'readExit']),
      serialLoops: { find: () => this.serialLoop },
    }
    const session = { id: testSessionId('loop1'), name: 'ralph-prd', task: 'prd', cwd: PROJECT, prompt: 'an idea' }
    const context = await createLoopContext(ports, { session, spec: this.spec, env: {}, logFolder: '/logs' })
    const store = injector.wrap({ record: (loop: Loop): void => void (this.#record = JSON.stringify(loop)) }, [
      'record',
    ])
    await runFromRecord(
      context,
      {
        loop: this.#record === undefined ? undefined : this.loop,
        resumedAt: this.#resumedAt,
        readLastStop: () => this.#stoppedAt,
      },
      { record: loop => store.record(loop), onChange: () => undefined },
      ending,
    )
    if (ending.aborted && !injector.hasFailed) await this.workers.stopAll()
  }

  /** A user stops the loop: the supervisor ends the program and its workers. */
  async stop(): Promise<void> {
    this.workers.isStopping = true
    this.#stoppedAt = this.clock.now()
    this.#ending.abort()
    await this.workers.stopAll()
  }

  /** A user resumes the loop later. */
  async resume(injectors: readonly CrashInjector[] = []): Promise<Loop> {
    this.workers.isStopping = false
    this.clock.suspend(60_000)
    this.#stoppedAt ??= this.clock.now()
    this.#resumedAt = this.clock.now()
    return this.run(injectors)
  }

  #taskSource(): TaskSource {
    const read = (cwd: string): string => {
      const text = this.git.checkouts.get(cwd)?.files.get(LIST)
      if (text === undefined) throw new Trouble(`reading ${LIST}`, 'the file does not exist', { mayHelpToRetry: false })
      return text
    }
    return {
      kind: 'markdown',
      file: LIST,
      exists: cwd => this.git.checkouts.get(cwd)?.files.has(LIST) === true,
      readText: cwd => this.git.checkouts.get(cwd)?.files.get(LIST) ?? '',
      read: async cwd => readChecklist(read(cwd)),
      mark: async (cwd, marks) => void this.git.checkout(cwd).files.set(LIST, markChecklist(read(cwd), marks)),
    }
  }

  #listBackup(): ListBackup {
    return {
      save: cwd => {
        this.#listCopy = this.git.checkout(cwd).files.get(LIST) ?? this.#listCopy
      },
      restore: cwd => {
        const { files } = this.git.checkout(cwd)
        if (files.has(LIST) || this.#listCopy === null) return false
        files.set(LIST, this.#listCopy)
        return true
      },
      keep: name => void this.keptLists.set(name, this.keptLists.get(name) ?? this.#listCopy ?? ''),
      overwrite: cwd => {
        if (this.#listCopy === null) return null
        this.git.checkout(cwd).files.set(LIST, this.#listCopy)
        return '/copy.replaced'
      },
      restoreCommand: (_, name) =>
        this.#listCopy === null ? null : `cp /copy${name === undefined ? '' : `.${name}`} PRD.md`,
    }
  }

  #checks(): Checks {
    return {
      detect: () => null,
      run: async ({ line }, { cwd }): Promise<CheckResult> => {
        this.checked.push(path.basename(cwd))
        const failure = this.#check(this.git.checkout(cwd).files)
        const how = `${line}: exit code ${failure === null ? 0 : 1} after 1 s`
        return { ok: failure === null, how, tail: failure ?? '', took: 1_000 }
      },
    }
  }
}
