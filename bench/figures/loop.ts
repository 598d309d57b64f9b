import fs from 'node:fs'
import path from 'node:path'
import { makeLoopSpec } from '../../testkit/core/loop-fixtures.ts'
import { run } from '../../src/os/run.ts'
import type { BenchHome } from '../product/bench-home.ts'
import type { Aim, Row } from '../report/row.ts'
import type { BenchContext } from '../context.ts'

const WORKERS = 4
const PATIENCE = 600_000
const WORKER = { ...makeLoopSpec().worker, agent: 'codex' }
const FASTER: Aim = { of: 'ratio', is: 'at least', limit: 3.8 }
/** Of short tasks, starts and merges are a larger part. */
const FASTER_SHORT: Aim = { of: 'ratio', is: 'at least', limit: 3.2 }
const OVERHEAD: Aim = { of: 'ours', is: 'at most', limit: 150 }

/** An agent that sleeps for a given time, writes a file, and ends its turn as codex does. */
const AGENT = `#!/bin/sh
cat >/dev/null
sleep "$ONESHOT_BENCH_SLEEP"
echo made > "made-$$.txt"
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"I did it."}}'
echo '{"type":"turn.completed","usage":{}}'
`

/**
 * Measures the time of a loop beyond that of its agents, and the gain from four parallel agents. The agents sleep,
 * because real agents mostly wait for a model.
 */
export async function loop(context: BenchContext): Promise<Row[]> {
  const home = await context.home('loop')
  const bin = path.join(context.clone.root, 'loop-bin')
  fs.mkdirSync(bin, { recursive: true })
  fs.writeFileSync(path.join(bin, 'codex'), AGENT, { mode: 0o755 })
  const track = new Track(home, bin)
  const short = context.rounds(20, 5)
  const bare = await track.bare(short)
  const alone = await track.loop(short, 0, null)
  return [
    {
      figure: 'a loop, an iteration beyond its agent',
      ours: { value: (alone - bare) / short, unit: 'ms', more: `n ${short}` },
      aim: OVERHEAD,
    },
    await parallel(track, { tasks: context.rounds(24, 8), nap: 2, aim: FASTER_SHORT }),
    ...(context.isQuick ? [] : [await parallel(track, { tasks: 24, nap: 5, aim: FASTER })]),
  ]
}

async function parallel(track: Track, { tasks, nap, aim }: { tasks: number; nap: number; aim: Aim }): Promise<Row> {
  const inTurn = await track.loop(tasks, nap, null)
  const together = await track.loop(tasks, nap, WORKERS)
  return {
    figure: `${tasks} tasks of ${nap} s, one after the other`,
    ours: { value: inTurn, unit: 'ms' },
    beside: { name: `${WORKERS} at a time, merged`, theirs: { value: together, unit: 'ms' } },
    aim,
  }
}

/** Runs each loop in a fresh repository. */
class Track {
  readonly #home: BenchHome
  readonly #bin: string
  #count = 0

  constructor(home: BenchHome, bin: string) {
    this.#home = home
    this.#bin = bin
  }

  /** Runs only the agents, one after the other. */
  async bare(tasks: number): Promise<number> {
    const cwd = await this.#repository(tasks)
    const begun = performance.now()
    for (let n = 0; n < tasks; n++)
      await run(path.join(this.#bin, 'codex'), [], { cwd, env: { ...process.env, ONESHOT_BENCH_SLEEP: '0' } })
    return performance.now() - begun
  }

  async loop(tasks: number, nap: number, parallel: number | null): Promise<number> {
    const cwd = await this.#repository(tasks)
    const env = {
      ...this.#home.env,
      PATH: `${this.#bin}:${this.#home.env['PATH']}`,
      ONESHOT_BENCH_SLEEP: String(nap),
    }
    const begun = performance.now()
    const { id } = await this.#home.start(
      [JSON.stringify(makeLoopSpec({ worker: WORKER, check: null, parallel, stagger: 500 }))],
      'headless',
      {
        agent: 'ralph',
        prompt: Buffer.from('work it off').toString('base64'),
        cwd,
        env,
      },
    )
    const { outcome, reason } = await this.#home.ended(id, PATIENCE)
    if (outcome !== 'done') throw new Error(`the loop is not done: ${reason}`)
    return performance.now() - begun
  }

  async #repository(tasks: number): Promise<string> {
    const cwd = path.join(this.#home.project, `loop-${++this.#count}`)
    fs.mkdirSync(cwd)
    const list = Array.from({ length: tasks }, (_, n) => `- [ ] task ${n + 1}\n`).join('')
    fs.writeFileSync(path.join(cwd, 'PRD.md'), list)
    const who = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost']
    for (const words of [
      ['init', '-q'],
      ['add', '.'],
      [...who, 'commit', '-qm', 'the list'],
    ])
      await run('git', words, { cwd })
    return cwd
  }
}
