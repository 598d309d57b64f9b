import fs from 'node:fs'
import path from 'node:path'
import type { SessionId } from '../../src/core/session/session-id-and-name.ts'
import type { CheckpointTarget, SaveResult } from '../../src/ports/checkpoints.ts'
import { GitCheckpoints } from '../../src/world/git/checkpoint/git-checkpoints.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { type Command, interleave, timeCommand } from '../measure/time-command.ts'
import { type Aim, milliseconds, type Row } from '../report/row.ts'
import type { BenchContext } from '../context.ts'
import { openLargeRepository } from './large-repository.ts'

const SIZES = [10_000, 80_000] as const
/** The highest ratio to `git status` for a repository of this size. */
const AIMS: Readonly<Record<number, Aim>> = {
  10_000: { of: 'ratio', is: 'at most', limit: 2 },
  80_000: { of: 'ratio', is: 'at most', limit: 1.8 },
}
/** Number of files written before each checkpoint with changes: as many as an agent changes in a step. */
const CHANGED = 5

/**
 * Compares checkpoints of a large working tree with `git status` in it: the first one, one with few changes, one with
 * none.
 */
export async function checkpoint(context: BenchContext): Promise<Row[]> {
  const rows: Row[] = []
  for (const size of context.isQuick ? SIZES.slice(0, 1) : SIZES) rows.push(...(await ofSize(context, size)))
  return rows
}

async function ofSize(context: BenchContext, size: number): Promise<Row[]> {
  const repository = openLargeRepository(context.clone, size)
  const saver = new Saver(context.clone.root, repository, context.clone.env)
  await saver.save(testSessionId('warm'))
  const status: Command = { program: 'git', args: ['status'], env: context.clone.env, cwd: repository }
  const times = await interleave(context.rounds(size > 10_000 ? 11 : 21, 3), {
    status: () => timeCommand(status),
    first: round => saver.time(testSessionId(`first${round}`), true),
    changed: async round => {
      await saver.save(testSessionId('warm'))
      change(repository, round)
      return saver.time(testSessionId('warm'), true)
    },
    same: async () => {
      await saver.save(testSessionId('warm'))
      return saver.time(testSessionId('warm'), false)
    },
  })
  fs.rmSync(repository, { recursive: true })
  const files = `${size.toLocaleString('en')} files`
  const beside = { name: 'git status', theirs: milliseconds(times.status) }
  const aim = AIMS[size]
  return [
    { figure: `checkpoint of ${files}, the first`, ours: milliseconds(times.first), beside },
    {
      figure: `checkpoint of ${files}, ${CHANGED} changed`,
      ours: milliseconds(times.changed),
      beside,
      ...(aim && { aim }),
    },
    { figure: `checkpoint of ${files}, none changed`, ours: milliseconds(times.same), beside, ...(aim && { aim }) },
  ]
}

class Saver {
  readonly #checkpoints: GitCheckpoints
  readonly #repository: string

  constructor(root: string, repository: string, env: NodeJS.ProcessEnv) {
    this.#repository = repository
    this.#checkpoints = new GitCheckpoints({
      env,
      folderOf: id => path.join(root, 'private', path.basename(repository), id),
    })
  }

  save(sessionId: SessionId): Promise<SaveResult> {
    const target: CheckpointTarget = { cwd: this.#repository, sessionId, name: 'bench' }
    const occasion = {
      trigger: 'edit',
      attempt: 1,
      at: Date.now(),
      record: '{}',
      isRecordNews: false,
      isVisible: false,
    } as const
    return this.#checkpoints.save(target, occasion, new AbortController().signal)
  }

  /** Returns the milliseconds of a save. Throws if the result is not the expected one. */
  async time(sessionId: SessionId, isChanged: boolean): Promise<number> {
    const begun = performance.now()
    const { isNew } = await this.save(sessionId)
    const took = performance.now() - begun
    if (isNew !== isChanged) throw new Error(`a checkpoint was ${isChanged ? 'not ' : ''}made`)
    return took
  }
}

function change(repository: string, round: number): void {
  for (let n = 0; n < CHANGED - 1; n++) {
    fs.appendFileSync(path.join(repository, 'src', `part${n}`, `module${round % 10}`, '7.ts'), `// ${round}\n`)
  }
  fs.writeFileSync(path.join(repository, `new-${round % 4}.ts`), `// ${round} ${Math.random()}\n`)
}
