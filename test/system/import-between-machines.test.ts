import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import type { SessionId } from '../../src/core/session/session-id-and-name.ts'
import { attemptFolder } from '../../src/state/session-folder.ts'
import { type Home, homeAt } from '../../src/state/home.ts'
import { initProject, gitIn } from './git-project.ts'
import { type CommandResult, TestHome, waitUntil } from './test-home.ts'

let testHome: TestHome
let remote: string
beforeEach(async () => {
  testHome = new TestHome()
  const git = await initProject(testHome)
  remote = path.join(testHome.root, 'remote.git')
  await git('init', '-q', '--bare', '-b', 'main', remote)
  await git('remote', 'add', 'origin', remote)
  await git('push', '-q', 'origin', 'main')
})
afterEach(() => testHome.close())

/** Another machine: a home and a clone of its own. */
interface Machine {
  readonly home: Home
  readonly call: (...args: string[]) => Promise<CommandResult>
  readonly status: (name: string) => Promise<SessionView>
}

async function machine(name: string): Promise<Machine> {
  const home = homeAt(path.join(testHome.root, `home-${name}`))
  const clone = path.join(testHome.root, name)
  await gitIn(testHome, testHome.root)('clone', '-q', remote, clone)
  const env = { ONESHOT_HOME: home.root }
  const call = (...args: string[]): Promise<CommandResult> => testHome.call(args, { cwd: clone, env })
  testHome.defer(async () => {
    await call('killall', '--yes')
    await call('daemon', 'stop')
  })
  const status = async (of: string): Promise<SessionView> =>
    JSON.parse((await call('status', '--json', of)).stdout) as SessionView
  return { home, call, status }
}

/** Starts a session whose first turn never ends, sends it a second message, and loses the machine before the agent reads it. */
async function lostWithMessage(prompt: string, message: string): Promise<void> {
  await testHome.ok('run', '--push', 'origin', '--agent', 'demo', '--name', 'far', prompt)
  await waitUntil('it writes', () => (fs.existsSync(testHome.path('notes')) ? true : undefined))
  await testHome.ok('send', 'far', message)
  await testHome.ok('stop', 'far')
  await waitUntil('all of it is pushed', async () => {
    const { push, checkpoint, isSaving } = await testHome.status('far')
    return !isSaving && checkpoint !== null && push?.number === checkpoint.number ? true : undefined
  })
  await testHome.ok('daemon', 'stop')
}

/** Returns the input of each attempt. */
function given(home: Home, id: SessionId): string[] {
  return Array.from({ length: 5 }, (_, at) => attemptFolder(home, id, at + 1).stdin).flatMap(file =>
    fs.existsSync(file) ? [fs.readFileSync(file, 'utf8')] : [],
  )
}

const countOf = (text: string, texts: readonly string[]): number[] => texts.map(one => one.split(text).length - 1)

it('resume --from gives an unread message once to a new conversation, and a third machine continues from the second', async () => {
  await lostWithMessage('steps=9 hang=3 delay=1ms write=notes', 'and-then-this-77')
  const second = await machine('second')
  expect(await second.call('resume', 'far', '--from', 'origin', '--yes')).toMatchObject({ code: 0 })
  const { id } = await second.status('far')
  const read = await waitUntil('it is given something', () =>
    given(second.home, id).length > 0 ? given(second.home, id) : undefined,
  )
  expect(countOf('and-then-this-77', read)).toEqual([1])
  expect((await second.status('far')).messages).toEqual({ accepted: 2, confirmed: 2 })
  await second.call('stop', 'far')
  await waitUntil('it is pushed', async () => {
    const { push, checkpoint, isSaving } = await second.status('far')
    return !isSaving && push?.number === checkpoint?.number ? true : undefined
  })

  const third = await machine('third')
  expect(await third.call('resume', 'far', '--from', 'origin', '--yes')).toMatchObject({ code: 0 })
  const { id: next } = await third.status('far')
  const again = await waitUntil('it is given something', () =>
    given(third.home, next).length > 0 ? given(third.home, next) : undefined,
  )
  expect(countOf('and-then-this-77', again)).toEqual([1])
})

it('resume --from gives an unread message once to a continued conversation, after its turn', {
  tags: ['extended'],
}, async () => {
  await lostWithMessage('steps=9 hang=3 delay=1ms write=notes', 'and-then-this-77 steps=1 delay=1ms')
  const second = await machine('second')
  const threads = (home: Home): string => path.join(home.root, 'demo')
  fs.mkdirSync(second.home.root, { mode: 0o700 })
  fs.cpSync(threads(testHome.home), threads(second.home), { recursive: true })
  expect(await second.call('resume', 'far', '--from', 'origin', '--yes')).toMatchObject({ code: 0 })
  const { id, thread } = await second.status('far')
  expect(thread).not.toBeNull()
  await waitUntil('it has ended', async () => ((await second.status('far')).phase === 'ended' ? true : undefined))
  expect(countOf('and-then-this-77', given(second.home, id))).toEqual([0, 1])
  const file = path.join(threads(second.home), `${thread}.jsonl`)
  expect(countOf('and-then-this-77', [fs.readFileSync(file, 'utf8')])).toEqual([1])
})

it('one of two machines that resume a session at the same moment wins, and the other one names the winner', async () => {
  await lostWithMessage('steps=9 hang=3 delay=1ms write=notes', 'more')
  const machines = [await machine('second'), await machine('third')]
  const answers = await Promise.all(machines.map(({ call }) => call('resume', 'far', '--from', 'origin', '--yes')))
  expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([0, 6]))
  const lost = answers.findIndex(({ code }) => code === 6)
  const winner = await machines[1 - lost]?.status('far')
  expect(answers[lost]?.stderr).toContain(`, as session ${winner?.id}\n`)
  const again = await machines[lost]?.call('resume', 'far', '--from', 'origin', '--yes')
  expect(again).toMatchObject({ code: 6, stderr: expect.stringContaining(`as session ${winner?.id}`) })
  expect((await machines[lost]?.call('list', '--json'))?.stdout.trim()).toBe('[]')
})

it('a foreign ref on the remote stops no push of a session, and status names the ref', async () => {
  const git = gitIn(testHome)
  await git('push', '-q', 'origin', 'main:refs/oneshot/demo-far')
  await testHome.ok('run', '--push', 'origin', '--agent', 'demo', '--name', 'far', 'steps=1 delay=1ms write=notes')
  await testHome.ended('far')
  const { push } = await waitUntil('it is pushed', async () => {
    const view = await testHome.status('far')
    return view.push?.number === null ? undefined : view
  })
  expect(push).toMatchObject({
    trouble: null,
    note: expect.stringContaining('refs/oneshot/demo-far on origin belongs'),
  })
  expect(await testHome.ok('status', 'far')).toMatch(/in the way +refs\/oneshot\/demo-far on origin/)
  expect(await git('ls-remote', 'origin', 'refs/oneshot/*')).toMatch(/refs\/oneshot\/demo-far-[0-9a-f]{4}\//)
})
