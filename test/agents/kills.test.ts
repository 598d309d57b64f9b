import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { ModelServer } from '../../testkit/model/model-server.ts'
import { userMessages } from '../../testkit/model/requests.ts'
import type { Script } from '../../testkit/model/script.ts'
import { isAlive, waitUntil } from '../system/test-home.ts'
import { AgentTestHome } from './kit/agent-test-home.ts'
import { runArguments, IS_QUICK, KINDS } from './kit/kinds.ts'
import { SEED, seededRandom } from '../../testkit/system/seeded-random.ts'

const MOMENTS = IS_QUICK ? 3 : 20
const STEPS = 4

/** Each step leaves a file; the last makes sure of all of them, because a command may be lost with the process it ran in. */
function work(label: string): NonNullable<Extract<Script, { task?: unknown }>['task']> {
  const files = Array.from({ length: STEPS }, (_, n) => `${label}-${n}`)
  return [
    ...files.map(file => ({ say: `Now ${file}.`, shell: `sleep 0.15; touch ${file}` })),
    { say: 'I make sure of it.', shell: `touch ${files.join(' ')} ${label}-all` },
    { say: `Finished ${label}.` },
  ]
}

describe.each(KINDS)('%s', kind => {
  let server: ModelServer
  let testHome: AgentTestHome
  let duration = 0
  beforeAll(async () => {
    server = await ModelServer.open()
    testHome = new AgentTestHome(server, { kinds: [kind] })
  })
  afterAll(async () => {
    await testHome.close()
    await server.close()
  })

  /** Runs one session, sends it two messages, and disturbs it at some moment. */
  async function round(name: string, misfortune: (session: SessionView) => Promise<void>): Promise<SessionView> {
    const [prompt, second, third] = [`Do the work ${name}, first part.`, `Also ${name} two.`, `And ${name} three.`]
    server.play(name, {
      task: work(`${name}-a`),
      messages: [
        { on: second, do: work(`${name}-b`) },
        { on: third, do: [{ say: `Noted ${name}.` }] },
      ],
    })
    const began = Date.now()
    const answer = await testHome.call(['run', '--json', ...runArguments(kind), '--name', name, prompt], {
      env: testHome.environmentFor(name),
    })
    expect(answer.code, answer.stderr).toBe(0)
    const session = JSON.parse(answer.stdout) as SessionView
    const fate = misfortune(session)
    await testHome.ok('send', session.name, second)
    await testHome.ok('send', session.name, third)
    await fate
    const ended = await waitUntil('it has ended', () => overIn(testHome, session.name), 240_000).catch(async cause => {
      throw new Error(
        `${cause}\n${await testHome.ok('log', session.name)}\n${await testHome.ok('status', session.name)}`,
      )
    })
    duration = Math.max(duration, Date.now() - began)
    const story = `${await testHome.ok('log', session.name)}\n${JSON.stringify(ended)}`
    expect(ended.outcome, story).toBe('done')
    const turns = server.main(name)
    for (const turn of turns) {
      for (const text of [prompt, second, third])
        expect(timesIn(userMessages(turn), text), `${text} in what the model saw\n${story}`).toBeLessThanOrEqual(1)
    }
    const last = turns.at(-1)
    const own = (last === undefined ? [] : userMessages(last)).map(text => text.trim())
    expect(
      own.filter(text => !text.startsWith('[oneshot')),
      story,
    ).toEqual([prompt, second, third])
    expect(ended.messages, story).toEqual({ accepted: 3, confirmed: 3 })
    for (const file of [`${name}-a-all`, `${name}-b-all`]) expect(fs.existsSync(testHome.path(file)), story).toBe(true)
    // The supervisor may still save the checkpoint of the end.
    await expect.poll(() => testHome.processesLeft(), { timeout: 15_000, message: story }).toEqual([])
    return ended
  }

  test('completes three turns of one thread without a disturbance', async () => {
    const session = await round('calm', async () => undefined)
    expect(session).toMatchObject({ attempt: 3, restarts: 0 })
  })

  const roll = seededRandom(SEED, kind)
  const misfortunes = Array.from({ length: MOMENTS }, (_, n) => {
    const victims = (['agent', 'supervisor', 'both'] as const)[n % 3] as 'agent' | 'supervisor' | 'both'
    return { victims, share: Math.round(roll() * 1_000) / 1_000, n }
  })
  test.each(misfortunes)(
    'finishes after a kill ($victims) at $share of its time ($n)',
    async ({ victims, share, n }) => {
      await round(`r${n}`, async ({ name }) => {
        await pause(share * duration)
        const [{ pid }, daemon] = await Promise.all([testHome.status(name), testHome.daemon()])
        if (victims !== 'supervisor' && pid !== null && isAlive(pid)) process.kill(pid, 'SIGKILL')
        if (victims !== 'agent' && isAlive(daemon.pid)) process.kill(daemon.pid, 'SIGKILL')
      })
    },
  )
})

async function overIn(testHome: AgentTestHome, name: string): Promise<SessionView | undefined> {
  const view = await testHome.status(name)
  return view.phase === 'ended' && view.messages.accepted === 3 ? view : undefined
}

function timesIn(texts: readonly string[], text: string): number {
  return texts.filter(said => said.trim() === text).length
}
