import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { ModelServer } from '../../testkit/model/model-server.ts'
import type { OnMessage } from '../../testkit/model/script.ts'
import { readLoop } from '../../src/state/loop-file.ts'
import { isAlive, waitUntil } from '../system/test-home.ts'
import { AgentTestHome } from './kit/agent-test-home.ts'
import { SEED, seededRandom } from '../../testkit/system/seeded-random.ts'
import { runArguments, IS_QUICK, KINDS } from './kit/kinds.ts'

const TASKS = IS_QUICK ? 6 : 30
const KILLS = IS_QUICK ? 4 : 20
const WORKERS = 4

const numbers = Array.from({ length: TASKS }, (_, n) => n + 1)

/** Each task makes a file of its own, commits it, and forgets about the box. Doing it twice changes nothing. */
function onTask(number: number): OnMessage {
  const file = `part-${number}.txt`
  const made = `sleep 0.2; echo ${number} > ${file} && git add ${file} && (git diff --cached --quiet || git commit -qm 'Part ${number}')`
  return {
    on: `# The task: ${number}\\n`,
    do: [{ say: `I make ${file}.`, shell: made }, { say: `Part ${number} is there.` }],
  }
}

describe.each(KINDS.filter(kind => /^(?:claude|codex)/.test(kind)))('%s', kind => {
  let server: ModelServer
  let testHome: AgentTestHome
  beforeAll(async () => {
    server = await ModelServer.open()
    server.play('main', { messages: numbers.map(onTask) })
    testHome = new AgentTestHome(server, { kinds: [kind] })
  })
  afterAll(async () => {
    await testHome.close()
    await server.close()
  })

  test(`completes, proves and merges ${TASKS} tasks, ${WORKERS} at a time, although processes are killed`, async () => {
    const list = `# All parts\n\n${numbers.map(number => `- [ ] Part ${number}\n`).join('')}\nThat is all.\n`
    fs.writeFileSync(testHome.path('PRD.md'), list)
    fs.writeFileSync(testHome.path('Makefile'), 'test:\n\t@for f in part-*.txt; do grep -q . $$f || exit 1; done\n')
    testHome.git('add', '.')
    testHome.git('commit', '-qm', 'The list')
    const words = ['ralph', '--json', ...runArguments(kind), '--parallel', String(WORKERS), '--land', '--name', 'all']
    const session = JSON.parse(await testHome.ok(...words)) as SessionView
    const killing = kill(session.name)
    const ended = await waitUntil('it has ended', () => over(session.name), 1_500_000)
    await killing
    const story = `${await testHome.ok('log', session.name)}\n${JSON.stringify(ended)}`
    expect(ended.outcome, story).toBe('done')
    for (const number of numbers)
      expect(fs.readFileSync(testHome.path(`part-${number}.txt`), 'utf8'), story).toBe(`${number}\n`)
    expect(fs.readFileSync(testHome.path('PRD.md'), 'utf8'), story).toBe(list.replaceAll('[ ]', '[x]'))
    expect(testHome.git('status', '--porcelain'), story).toBe('')
    const merges = testHome
      .git('log', '--merges', '--format=%s')
      .split('\n')
      .filter(subject => subject.startsWith('Part '))
    expect(merges.toSorted(), story).toEqual(numbers.map(number => `Part ${number}`).toSorted())
    const loop = readLoop(testHome.home, session.id)
    expect(loop?.tasks.map(({ state }) => state.name)).toEqual(numbers.map(() => 'done'))
    // The supervisor may still save the checkpoint of the end.
    await expect.poll(() => testHome.processesLeft(), { timeout: 15_000, message: story }).toEqual([])
  })

  async function over(name: string): Promise<SessionView | undefined> {
    const view = await testHome.status(name)
    return view.phase === 'ended' ? view : undefined
  }

  /** A worker, the loop's program, the supervisor, or all of them at once, after some more of the work is done each time. */
  async function kill(name: string): Promise<void> {
    const roll = seededRandom(SEED, kind)
    for (let n = 0; n < KILLS; n++) {
      await pause(500 + roll() * 3_000)
      const all = await testHome.list()
      const loop = all.find(view => view.name === name)
      if (loop?.phase === 'ended') return
      const workers = all.filter(view => view.parent === loop?.id && view.pid !== null)
      const worker = workers[Math.floor(roll() * workers.length)]
      const supervisor = await testHome.oneshot('daemon', 'status', '--json')
      const pids = {
        worker: worker?.pid,
        loop: loop?.pid,
        supervisor: supervisor.code === 0 ? pidIn(supervisor.stdout) : null,
      }
      const victims = [['worker'], ['loop'], ['supervisor'], ['worker', 'loop', 'supervisor']] as const
      for (const victim of victims[n % victims.length] ?? []) {
        const pid = pids[victim]
        if (typeof pid === 'number' && isAlive(pid)) process.kill(pid, 'SIGKILL')
      }
    }
  }
})

function pidIn(text: string): number {
  return (JSON.parse(text) as { pid: number }).pid
}
