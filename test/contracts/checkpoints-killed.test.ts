import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Checkpoint } from '../../src/core/checkpoint/checkpoint.ts'
import { bundleProgram } from '../../testkit/system/child-program.ts'
import { processesOf } from '../../testkit/system/process-list.ts'
import { SEED, seededRandom } from '../../testkit/system/seeded-random.ts'
import { waitUntil } from '../../testkit/system/wait-until.ts'
import { testSize } from '../../testkit/system/test-size.ts'
import { type GitFixture, NEVER, makeCheckpointRequest, openGitFixture, put, savedCheckpoint } from './git-fixture.ts'
import type { Line } from './saver.ts'

const KILLS = Number(process.env['KILLS'] ?? testSize(4, 12))
const roll = seededRandom(SEED, 'checkpoints-killed')

let program: string
beforeAll(async () => {
  program = await bundleProgram(path.join(path.dirname(fileURLToPath(import.meta.url)), 'saver.ts'))
})
afterAll(() => fs.rmSync(program))

class Saver {
  readonly child: ChildProcess
  readonly said: string[] = []

  constructor(fixture: GitFixture, repo: string, sessionId: string) {
    const { NODE_EXTRA_CA_CERTS: _, ...env } = { ...process.env, ...fixture.env }
    this.child = spawn(process.execPath, [program, repo, fixture.state, sessionId], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let text = ''
    this.child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      this.said.splice(0, this.said.length, ...text.split('\n').slice(0, -1))
    })
    this.child.stderr?.on('data', (chunk: Buffer) => this.said.push(`trouble ${chunk.toString()}`))
  }

  async gone(): Promise<void> {
    await waitUntil('it is gone', () => this.child.exitCode !== null || this.child.signalCode !== null)
  }
}

function begin(fixture: GitFixture): string {
  const repo = fixture.repository('repo')
  for (let n = 0; n < 300; n++) put(repo, `many/${n}.txt`, `${n}\n`)
  put(repo, 'a.txt', 'a')
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '--message', 'first')
  return repo
}

/** All that was said to be saved is there, whole and in order; nothing of ours is in the user's way. */
async function expectSound(
  fixture: GitFixture,
  repo: string,
  said: readonly string[],
  list: readonly Checkpoint[],
): Promise<void> {
  expect(said.filter(line => line.startsWith('trouble'))).toEqual([])
  const known = list.map(({ number, commit }): Line => `${number} ${commit}`)
  expect(known.filter(line => said.includes(line))).toEqual(said)
  expect(list.map(({ number }) => number)).toEqual(list.map((_, at) => at + 1))
  fixture.expectIntact(repo)
}

const WAYS: Readonly<Record<string, (saver: Saver, root: string) => void>> = {
  'of the saver alone, while its git continues': saver => saver.child.kill('SIGKILL'),
  'of the saver and its git': (saver, root) => {
    saver.child.kill('SIGKILL')
    for (const pid of gitsIn(root)) kill(pid)
  },
  'of its git and then the saver': (saver, root) => {
    for (const pid of gitsIn(root)) kill(pid)
    saver.child.kill('SIGKILL')
  },
}

test.each(Object.entries(WAYS))(
  'the old or the new checkpoint exists after a kill at any moment %s',
  async (_, end) => {
    const fixture = openGitFixture()
    const repo = begin(fixture)
    const target = fixture.checkpointTarget(repo)
    const said: string[] = []
    for (let round = 0; round < KILLS; round++) {
      const saver = new Saver(fixture, repo, target.sessionId)
      await waitUntil('it has begun', () => saver.said.length > 0)
      await nextMoment([
        repo,
        `${repo}/.git`,
        `${repo}/.git/refs/oneshot/demo-work`,
        path.join(fixture.state, target.sessionId),
      ])
      end(saver, fixture.root)
      await saver.gone()
      said.push(...saver.said.filter(line => !line.startsWith('trouble')))
      const checkpoints = fixture.checkpoints()
      await expectSound(fixture, repo, said, await checkpoints.list(target))
      put(repo, 'a.txt', `after ${round}`)
      const visibly = makeCheckpointRequest({ isVisible: true })
      const begun = Date.now()
      const next = await savedCheckpoint(checkpoints.save(target, visibly, NEVER))
      expect(Date.now() - begun, 'at once, or after a lock has become old').toBeLessThan(10_000)
      said.push(
        ...(await checkpoints.list(target)).slice(said.length).map(({ number, commit }) => `${number} ${commit}`),
      )
      expect(next.number).toBe(said.length)
      expect(fs.existsSync(path.join(repo, '.git/index.lock')), 'the user can go on').toBe(false)
    }
  },
)

test('the checkpointer removes the lock that a killed git has left on its ref, once the lock is old', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const target = fixture.checkpointTarget(repo)
  const checkpoints = fixture.checkpoints()
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  const lock = path.join(repo, `.git/refs/oneshot/demo-work/${target.sessionId}.lock`)
  fs.writeFileSync(lock, '')
  put(repo, 'a.txt', 'b')
  const begun = Date.now()
  expect(await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))).toMatchObject({ number: 2 })
  expect(Date.now() - begun, 'somebody may hold it rightly').toBeGreaterThan(1_500)
  fs.writeFileSync(lock, '')
  fs.utimesSync(lock, 0, 0)
  put(repo, 'a.txt', 'c')
  expect(await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))).toMatchObject({ number: 3 })
  expect(fs.existsSync(lock)).toBe(false)
})

test('the checkpointer makes a truncated private index anew', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const target = fixture.checkpointTarget(repo)
  const checkpoints = fixture.checkpoints()
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  const folder = path.join(fixture.state, target.sessionId)
  const [index = ''] = fs.readdirSync(folder).filter(name => name.startsWith('index-'))
  for (const length of [0, 100, 5_000]) {
    fs.truncateSync(path.join(folder, fs.readdirSync(folder).find(name => name.startsWith('index-')) ?? index), length)
    put(repo, 'a.txt', `${length}`)
    expect(await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))).toMatchObject({
      change: { files: 1 },
    })
  }
  fs.writeFileSync(path.join(folder, 'index.json'), '{"file":')
  put(repo, 'a.txt', 'last')
  expect(await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))).toMatchObject({
    number: 5,
    change: { files: 1 },
  })
})

test('the checkpointer saves objects again that a garbage collection removed during the save', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const target = fixture.checkpointTarget(repo)
  const checkpoints = fixture.checkpoints()
  const first = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  put(repo, 'new.txt', 'new')
  put(repo, '.git/gc.pid', '1 elsewhere')
  const broken = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  const blob = fixture.git(repo, 'rev-parse', `${broken.commit}:new.txt`).trim()
  fs.rmSync(path.join(repo, '.git/objects', blob.slice(0, 2), blob.slice(2)))
  fs.rmSync(path.join(repo, '.git/gc.pid'))
  const again = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  expect(fixture.git(repo, 'show', `${again.commit}:new.txt`)).toBe('new')
  expect((await checkpoints.list(target)).map(({ commit }) => commit)).toEqual([first.commit, again.commit])
  fixture.git(repo, 'fsck', '--strict', '--connectivity-only', again.commit)
})

/** Right at one of the next changes that a chain makes to one of these folders. */
function nextMoment(folders: readonly string[]): Promise<void> {
  return new Promise(resolve => {
    let left = Math.ceil(roll() * 40)
    const watchers = folders.map(folder =>
      fs.watch(folder, () => {
        if (--left > 0) return
        for (const watcher of watchers) watcher.close()
        resolve()
      }),
    )
  })
}

function gitsIn(root: string): number[] {
  return processesOf(root)
    .filter(({ command }) => /(^|\/)git /.test(command))
    .map(({ pid }) => pid)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It went by itself.
  }
}
