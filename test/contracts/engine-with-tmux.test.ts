import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SessionId } from '../../src/core/session/session-id-and-name.ts'
import { DEFAULT_TIMINGS } from '../../src/core/session/supervisor-timings.ts'
import type { Mode, Session } from '../../src/core/session/session-state.ts'
import { Engine } from '../../src/engine/engine.ts'
import type { Store } from '../../src/ports/store.ts'
import { noServices } from '../../testkit/in-memory/notifier.ts'
import { scriptedAgents } from '../../testkit/in-memory/scripted-agents.ts'
import { makeSpec, type SpecOverrides } from '../../testkit/in-memory/simulation.ts'
import { attemptFolder, sessionFolder } from '../../src/state/session-folder.ts'
import { systemClock } from '../../src/os/system-clock.ts'
import { readClaim, readExit } from '../../src/state/shim-records.ts'
import { openStore } from '../../src/world/store/sqlite-store.ts'
import { TmuxRuntime } from '../../src/world/runtime/tmux-runtime.ts'
import { openTmuxFixture, type TmuxFixture } from './tmux-fixture.ts'

/** Nobody makes slow rounds here: whatever happens must ring. */
describe.each<Mode>(['headless', 'tty'])('an engine with real %s programs', mode => {
  let fixture: TmuxFixture
  let store: Store
  let engine: Engine
  let troubles: unknown[]
  beforeEach(async () => {
    fixture = openTmuxFixture(mode)
    troubles = []
    await takeOver()
  })
  afterEach(async () => {
    await engine.shutDown()
    await fixture.close()
    expect(troubles).toEqual([])
  })

  async function takeOver(): Promise<void> {
    store = openStore(fixture.home.database)
    const work = new TmuxRuntime(fixture.home, fixture.panes)
    const onTrouble = (_: string, cause: unknown): void => void troubles.push(cause)
    const agents = scriptedAgents()
    engine = new Engine({
      store,
      runtime: work,
      clock: systemClock,
      agents,
      timings: DEFAULT_TIMINGS,
      onTrouble,
      ...noServices(),
    })
    await engine.start()
  }

  /** The program gets `--resume THREAD` behind its script when it is started again. */
  async function accept(script: string, wishes: SpecOverrides = {}): Promise<SessionId> {
    const { sessionId: id, name } = fixture.reserve()
    const env = { PATH: process.env['PATH'] ?? '' }
    const argv = ['/bin/sh', '-c', script, 'sh']
    await engine.create(makeSpec({ agent: 'talker', id, name, mode, argv, createdAt: Date.now(), ...wishes }), {
      prompt: Buffer.from('do it\n'),
      env,
    })
    return id
  }
  const phaseOf = (id: SessionId): Session['phase'] | undefined => store.load(id)?.phase
  const ended = (id: SessionId): Promise<void> =>
    fixture.until(`${id} has ended`, () => phaseOf(id)?.name === 'ended' && store.pendingEffects(id).length === 0)
  const saidOf = (id: SessionId): string[] => {
    const { transcript } = sessionFolder(fixture.home, id)
    const text = fs.existsSync(transcript) ? fs.readFileSync(transcript, 'utf8') : ''
    return text.split('\n').filter(line => line !== '' && !line.startsWith('──'))
  }

  test('reads the whole output of every program, however short its life is', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => accept('echo "thread: t"; echo "done: it"')))
    await Promise.all(ids.map(ended))
    expect(ids.map(phaseOf)).toEqual(ids.map(() => expect.objectContaining({ outcome: 'done' })))
    expect(ids.map(saidOf)).toEqual(ids.map(() => ['thread: t', 'done: it']))
  })

  test('restarts a crashed program, which resumes its thread', async () => {
    const id = await accept(
      'if [ "$1" = --resume ]; then echo "$2 resumed"; echo "done: it"; else echo "thread: t-1"; kill -KILL $$; fi',
    )
    await ended(id)
    expect(store.load(id)).toMatchObject({
      phase: { outcome: 'done' },
      attempt: { number: 2 },
      thread: { id: 't-1' },
    })
    expect(saidOf(id)).toEqual(['thread: t-1', 't-1 resumed', 'done: it'])
  })

  const AT_ONCE = { on: 'crash', limit: 3, window: 60_000, firstDelay: 0, nextDelay: 0, maxDelay: 0 } as const

  /**
   * A shim whose exit nobody has noticed for a second starts a supervisor. On a busy machine, its processes would be in
   * the control group when the engine looks whether the program left any.
   */
  function makeShimPatient(): void {
    const file = path.join(fixture.home.programs, fixture.panes.shimProgram)
    const text = fs.readFileSync(file, 'utf8')
    const patient = text.replace('for pause in 1 2 4 ', 'for pause in 60 ')
    expect(patient).not.toBe(text)
    fs.writeFileSync(file, patient)
  }
  const shimOf = (id: SessionId, attempt: number) => readClaim(attemptFolder(fixture.home, id, attempt))

  test('restarts a crashed program at once, in the same transaction if it can', async () => {
    makeShimPatient()
    const id = await accept('if [ "$1" = --resume ]; then echo "done: it"; else echo "thread: t"; kill -KILL $$; fi', {
      supervision: { restart: AT_ONCE },
    })
    await ended(id)
    expect(store.load(id)).toMatchObject({ phase: { outcome: 'done' }, attempt: { number: 2 } })
    const events = store.events(id).map(({ event }) => event)
    const death = events.find(event => event.type === 'attempt.ended')?.at
    const launch = events.findLast(event => event.type === 'attempt.launched')?.at
    const isOneBreath = mode === 'headless' && fixture.hasGroups
    if (isOneBreath) {
      expect(launch).toBe(death)
      expect(shimOf(id, 2)).toEqual(shimOf(id, 1))
    } else expect(launch).toBeGreaterThanOrEqual(death as number)
    expect(fs.readdirSync(fixture.home.mailbox)).toEqual([])
  })

  test('has a successor that restarts a program once that died between the two', async () => {
    const id = await accept(
      'if [ "$1" = --resume ]; then echo "done: it"; else echo "thread: t"; exec sleep 1000; fi',
      { supervision: { restart: AT_ONCE } },
    )
    await fixture.until('it has spoken', () => phaseOf(id)?.name === 'running' && store.load(id)?.thread.id === 't')
    await engine.shutDown()
    process.kill(store.load(id)?.attempt.process?.pid as number, 'SIGKILL')
    await fixture.until('it has ended', () => readExit(attemptFolder(fixture.home, id, 1)) !== null)
    await takeOver()
    await ended(id)
    expect(store.load(id)).toMatchObject({
      phase: { outcome: 'done' },
      attempt: { number: 2 },
      restarts: [expect.any(Number)],
    })
    if (mode === 'headless' && fixture.hasGroups) expect(shimOf(id, 2)).toEqual(shimOf(id, 1))
    expect(saidOf(id)).toEqual(['thread: t', 'done: it'])
  })

  test('stops a program gracefully and leaves no process of it', async () => {
    const id = await accept(`setsid sleep 1000 & trap 'echo bye; exit 3' INT; echo ready; while :; do sleep 0.05; done`)
    await fixture.until('it has spoken', () => saidOf(id).includes('ready'))
    await engine.stop(id)
    await ended(id)
    expect(store.load(id)).toMatchObject({
      phase: { outcome: 'stopped' },
      attempt: { exit: { kind: 'code', code: 3 } },
    })
    expect(saidOf(id)).toEqual(['ready', 'bye'])
    expect(fixture.alive({ sessionId: id, name: '', attempt: 1, mode })).toBe(0)
    expect(fs.readdirSync(fixture.home.mailbox)).toEqual([])
  })

  test('has a successor that continues with the same process', async () => {
    const id = await accept('echo one; exec sleep 1000')
    await fixture.until('it has spoken', () => phaseOf(id)?.name === 'running' && saidOf(id).includes('one'))
    const before = store.load(id)?.attempt.process
    await engine.shutDown()
    await takeOver()
    expect(store.load(id)?.attempt.process).toEqual(before)
    await engine.stop(id)
    await ended(id)
    expect(saidOf(id)).toEqual(['one'])
    expect(fs.existsSync(attemptFolder(fixture.home, id, 2).root)).toBe(false)
  })
})
