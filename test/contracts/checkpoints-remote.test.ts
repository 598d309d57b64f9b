import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { Trouble } from '../../src/lib/errors.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { waitUntil } from '../../testkit/system/wait-until.ts'
import { identifyProcess, checkLiveness } from '../../src/os/process/processes.ts'
import { type GitFixture, NEVER, makeCheckpointRequest, openGitFixture, put, savedCheckpoint } from './git-fixture.ts'

function begin(fixture: GitFixture): { repo: string; remote: string } {
  const remote = fixture.repository('remote.git', '--bare')
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'a\n')
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '--message', 'first')
  fixture.git(repo, 'remote', 'add', 'origin', remote)
  return { repo, remote }
}

const env = (fixture: GitFixture): Record<string, string> => fixture.env as Record<string, string>
const origin = (fixture: GitFixture) => ({ remote: 'origin', env: env(fixture) })

test('a fresh clone finds and restores a pushed checkpoint, with commits that the user never pushed', async () => {
  const fixture = openGitFixture()
  const { repo, remote } = begin(fixture)
  fixture.git(repo, 'push', '--quiet', 'origin', 'main')
  put(repo, '.git/hooks/pre-push', '#!/bin/sh\nexit 1\n', 0o755)
  put(repo, 'a.txt', 'committed, never pushed\n')
  fixture.git(repo, 'commit', '--quiet', '--all', '--message', 'second')
  put(repo, 'new.txt', 'uncommitted\n')
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  const made = await savedCheckpoint(
    checkpoints.save(target, makeCheckpointRequest({ record: '{"prompt":"p"}' }), NEVER),
  )
  await checkpoints.push(target, 'origin', env(fixture), NEVER)
  const refs = fixture.git(repo, 'for-each-ref', '--format=%(refname)')
  expect(refs, 'nothing else has come of it').toBe(
    `refs/heads/main\nrefs/oneshot/demo-work/${target.sessionId}\nrefs/remotes/origin/main\n`,
  )

  const clone = path.join(fixture.root, 'clone')
  fixture.git(fixture.root, 'clone', '--quiet', remote, clone)
  expect(await checkpoints.findSessions(clone)).toEqual([])
  fixture.git(clone, 'config', 'fetch.prune', 'true')
  await checkpoints.fetch(clone, origin(fixture), all => all.filter(({ name }) => name === 'demo-work'), NEVER)
  expect(fs.existsSync(path.join(clone, '.git/FETCH_HEAD'))).toBe(false)
  expect(await checkpoints.findSessions(clone)).toMatchObject([
    { name: 'demo-work', sessionId: target.sessionId, last: made },
  ])
  expect(await checkpoints.findSessions(clone, 'other-name')).toEqual([])
  const there = { ...target, cwd: clone }
  expect(await checkpoints.readRecord(there, made.commit)).toBe('{"prompt":"p"}')
  const beside = path.join(fixture.root, 'beside')
  await checkpoints.restoreToBranch(there, made, { branch: 'back', worktree: beside })
  expect(fs.readFileSync(path.join(beside, 'a.txt'), 'utf8')).toBe('committed, never pushed\n')
  expect(fixture.git(beside, 'log', '--format=%s')).toBe('oneshot: checkpoint 1 (edit)\nsecond\nfirst\n')

  put(clone, 'a.txt', 'further\n')
  const further = await savedCheckpoint(checkpoints.save(there, makeCheckpointRequest(), NEVER))
  await checkpoints.fetch(clone, origin(fixture), all => all, NEVER)
  expect((await checkpoints.findSessions(clone))[0]?.last, 'what is further here stays').toEqual(further)
  await checkpoints.push(there, 'origin', env(fixture), NEVER)
  await checkpoints.fetch(repo, origin(fixture), all => all, NEVER)
  expect((await checkpoints.findSessions(repo))[0]?.last).toEqual(further)
})

test('restore takes the checkpoint of the other session, not the own one of the same number', async () => {
  const fixture = openGitFixture()
  const { repo } = begin(fixture)
  const checkpoints = fixture.checkpoints()
  const [theirs, ours] = [fixture.checkpointTarget(repo), fixture.checkpointTarget(repo)]
  put(repo, 'a.txt', 'work of the lost machine\n')
  const last = await savedCheckpoint(checkpoints.save(theirs, makeCheckpointRequest(), NEVER))
  fixture.git(repo, 'checkout', '--quiet', 'a.txt')
  const found = await savedCheckpoint(checkpoints.save(ours, makeCheckpointRequest(), NEVER))
  expect(found.number).toBe(last.number)
  await checkpoints.restoreInPlace(ours, last, found)
  expect(fs.readFileSync(path.join(repo, 'a.txt'), 'utf8')).toBe('work of the lost machine\n')
})

test('a push replaces the longer chain on the remote with the shortenedFiles one', { tags: ['extended'] }, async () => {
  const fixture = openGitFixture()
  const { repo } = begin(fixture)
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  for (let n = 0; n < 25; n++) {
    put(repo, 'a.txt', `${n}\n`)
    await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest({ at: n * 1000 }), NEVER))
  }
  await checkpoints.push(target, 'origin', env(fixture), NEVER)
  expect(await checkpoints.prune(target, 10 * 86_400_000)).toBeGreaterThan(20)
  await checkpoints.push(target, 'origin', env(fixture), NEVER)
  const [local, remote] = [repo, path.join(fixture.root, 'remote.git')].map(folder =>
    fixture.git(folder, 'for-each-ref', '--format=%(objectname)', 'refs/oneshot'),
  )
  expect(remote).toBe(local)
})

test('a fetch keeps the local chain if another machine has shortenedFiles it, and reports it as diverged', {
  tags: ['extended'],
}, async () => {
  const fixture = openGitFixture()
  const { repo, remote } = begin(fixture)
  fixture.git(repo, 'push', '--quiet', 'origin', 'main')
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  for (let n = 0; n < 25; n++) {
    put(repo, 'a.txt', `${n}\n`)
    await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest({ at: n * 1000 }), NEVER))
  }
  await checkpoints.push(target, 'origin', env(fixture), NEVER)
  const clone = path.join(fixture.root, 'clone')
  fixture.git(fixture.root, 'clone', '--quiet', '--branch', 'main', remote, clone)
  await checkpoints.fetch(clone, origin(fixture), all => all, NEVER)
  put(repo, 'a.txt', 'further\n')
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest({ at: 86_400_000 }), NEVER))
  await checkpoints.prune(target, 10 * 86_400_000)
  await checkpoints.push(target, 'origin', env(fixture), NEVER)
  const { name, sessionId } = target
  expect(await checkpoints.fetch(clone, origin(fixture), all => all, NEVER)).toEqual({
    taken: [],
    diverged: [{ name, sessionId }],
    unreadable: [],
  })
  expect((await checkpoints.findSessions(clone))[0]?.last.number).toBe(25)
  await checkpoints.removeRefs({ ...target, cwd: clone })
  await checkpoints.fetch(clone, origin(fixture), all => all, NEVER)
  const refs = (folder: string): string =>
    fixture.git(folder, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/oneshot*', 'refs/oneshot-fetched')
  expect(refs(clone)).toBe(refs(repo))
})

const TROUBLES: Readonly<Record<string, { remote: string; says: RegExp; mayHelp: boolean }>> = {
  'a remote that does not exist': { remote: 'nowhere', says: /^pushing to nowhere: .*nowhere.*/, mayHelp: false },
  'a remote that looks like an option': { remote: '--mirror', says: /--mirror/, mayHelp: false },
  'an address that refuses, without its password': {
    remote: 'https://me:secret-word@127.0.0.1:1/x.git',
    says: /^pushing to the remote: (?!.*secret-word).*127\.0\.0\.1/,
    mayHelp: true,
  },
}

test.each(Object.entries(TROUBLES))('a push explains its failure: %s', async (_, { remote, says, mayHelp }) => {
  const fixture = openGitFixture()
  const { repo } = begin(fixture)
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  const trouble = await checkpoints.push(target, remote, env(fixture), NEVER).catch((cause: unknown) => cause)
  expect(trouble).toBeInstanceOf(Trouble)
  expect(trouble).toMatchObject({ message: expect.stringMatching(says), mayHelpToRetry: mayHelp })
})

test('a push forbids ssh to ask, unless the user has configured the ssh command', async () => {
  const fixture = openGitFixture()
  const { repo } = begin(fixture)
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  const bin = path.join(fixture.root, 'bin')
  put(bin, 'ssh', `#!/bin/sh\necho "$@" $SSH_ASKPASS_REQUIRE >> ${fixture.root}/ssh-args\nexit 255\n`, 0o755)
  put(bin, 'own', `#!/bin/sh\necho own "$@" >> ${fixture.root}/ssh-args\nexit 255\n`, 0o755)
  const reach = { ...env(fixture), SSH_ASKPASS_REQUIRE: 'force', PATH: `${bin}:${fixture.env['PATH']}` }
  const remote = 'git@host.invalid:x.git'
  await expect(checkpoints.push(target, remote, reach, NEVER)).rejects.toThrow(Trouble)
  await expect(
    checkpoints.push(target, remote, { ...reach, GIT_SSH_COMMAND: `${bin}/own -4` }, NEVER),
  ).rejects.toThrow()
  fixture.git(repo, 'config', '--global', 'core.sshCommand', `${bin}/own -6`)
  await expect(checkpoints.push(target, remote, reach, NEVER)).rejects.toThrow()
  const calls = fs.readFileSync(path.join(fixture.root, 'ssh-args'), 'utf8').trim().split('\n')
  const ways = new Set(calls.map(call => call.split(' ').slice(0, 2).join(' '))) // git may try one before it uses it.
  expect([...ways]).toEqual(['-o BatchMode=yes', 'own -4', 'own -6'])
  expect(calls[0]).toMatch(/ never$/)
})

function isGone(pid: number): boolean {
  const found = identifyProcess(pid)
  return found === undefined || checkLiveness(found) === 'dead'
}

test('a cancelled push ends with every process that it has started', async () => {
  const fixture = openGitFixture()
  const { repo } = begin(fixture)
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  const script = path.join(fixture.root, 'hang')
  put(fixture.root, 'hang', `#!/bin/sh\necho $$ > ${fixture.root}/pid\nexec sleep 1000\n`, 0o755)
  const ending = new AbortController()
  fs.watch(fixture.root, (_, name) => {
    if (name === 'pid') ending.abort()
  }).unref()
  const pushing = checkpoints.push(
    target,
    'ssh://host.invalid/x',
    { ...env(fixture), GIT_SSH_COMMAND: script },
    ending.signal,
  )
  await expect(pushing).rejects.toThrow('it was cancelled')
  const pid = Number(fs.readFileSync(path.join(fixture.root, 'pid'), 'utf8'))
  await waitUntil('it is gone', () => isGone(pid))
})

/** The same work on two machines: one that began it, and a clone that continues it. */
async function twoMachines() {
  const fixture = openGitFixture()
  const { repo, remote } = begin(fixture)
  fixture.git(repo, 'push', '--quiet', 'origin', 'main')
  const [first, second] = [
    fixture.checkpoints(),
    fixture.checkpoints({ folderOf: id => path.join(fixture.root, 'other', id) }),
  ]
  const target = fixture.checkpointTarget(repo)
  put(repo, 'a.txt', 'begun\n')
  await savedCheckpoint(first.save(target, makeCheckpointRequest({ record: '{"a":1}' }), NEVER))
  await first.push(target, 'origin', env(fixture), NEVER)
  const clone = path.join(fixture.root, 'clone')
  fixture.git(fixture.root, 'clone', '--quiet', '--branch', 'main', remote, clone)
  await second.fetch(clone, origin(fixture), all => all, NEVER)
  const there = { ...target, cwd: clone }
  const wish = {
    ...origin(fixture),
    at: 1_800_000_100_000,
    sessionId: testSessionId('second'),
    host: 'laptop',
    isTakeOver: false,
  }
  let changes = 0
  const further = async (): Promise<void> => {
    put(repo, 'a.txt', `change ${++changes}\n`)
    await savedCheckpoint(first.save(target, makeCheckpointRequest(), NEVER))
  }
  return { bench: fixture, repo, remote, clone, first, second, keeping: target, there, wish, further }
}

test('a machine stops pushing a session that another machine has claimed, and says who continues it', async () => {
  const { bench: fixture, remote, clone, first, second, keeping: target, there, wish, further } = await twoMachines()
  await second.claim(there, wish)
  expect(await second.findSessions(clone)).toMatchObject([
    { claim: { sessionId: 'second', host: 'laptop' }, record: '{"a":1}' },
  ])
  const tip = fixture.git(remote, 'for-each-ref', '--format=%(objectname)', 'refs/oneshot')
  await further()
  for (let n = 0; n < 2; n++) {
    await expect(first.push(target, 'origin', env(fixture), NEVER)).rejects.toMatchObject({
      message: expect.stringContaining(
        'laptop continues this session as second; to end it here: oneshot stop demo-work',
      ),
      mayHelpToRetry: false,
    })
  }
  expect(fixture.git(remote, 'for-each-ref', '--format=%(objectname)', 'refs/oneshot')).toBe(tip)
})

test('only one machine can claim a session; another one can take it over, and one that gives it back leaves it as it was', async () => {
  const { bench: fixture, remote, first, second, keeping: target, there, wish, further } = await twoMachines()
  const giveBack = await second.claim(there, wish)
  const again = { ...wish, sessionId: testSessionId('third'), host: 'desk' }
  await expect(second.claim(there, again)).rejects.toMatchObject({
    code: 'session-claimed',
    message: 'demo-work is continued on laptop, as session second',
    hint: `if that machine is lost: oneshot resume ${target.sessionId} --from origin --take-over`,
  })
  await giveBack()
  await further()
  await first.push(target, 'origin', env(fixture), NEVER)
  await expect(second.claim(there, wish), 'it has gone on since it was fetched').rejects.toThrow(
    'has changed on origin',
  )
  await second.fetch(there.cwd, origin(fixture), all => all, NEVER)
  await second.claim(there, wish)
  await second.claim(there, { ...again, isTakeOver: true })
  expect(fixture.git(remote, 'for-each-ref', '--format=%(contents)', 'refs/oneshot')).toContain(
    'Oneshot-Claim: 3 third desk\n',
  )
})

test('claims ignore clocks that are wrong by years, and the loser of a race learns who has won', {
  tags: ['extended'],
}, async () => {
  const { bench: fixture, clone, first, second, keeping: target, there, wish } = await twoMachines()
  put(target.cwd, 'a.txt', 'far in the future\n')
  await savedCheckpoint(first.save(target, makeCheckpointRequest({ at: Date.UTC(2090, 1, 1) }), NEVER))
  put(target.cwd, 'a.txt', 'long ago\n')
  await savedCheckpoint(first.save(target, makeCheckpointRequest({ at: Date.UTC(1980, 1, 1) }), NEVER))
  await first.push(target, 'origin', env(fixture), NEVER)
  await second.fetch(clone, origin(fixture), all => all, NEVER)
  expect((await second.list(there)).map(({ number }) => number)).toEqual([1, 2, 3])
  // A third machine has fetched the same, and claims it first.
  const third = fixture.checkpoints({ folderOf: id => path.join(fixture.root, 'third', id) })
  const other = path.join(fixture.root, 'other-clone')
  fixture.git(fixture.root, 'clone', '--quiet', '--branch', 'main', path.join(fixture.root, 'remote.git'), other)
  await third.fetch(other, origin(fixture), all => all, NEVER)
  await third.claim(
    { ...target, cwd: other },
    { ...wish, at: Date.UTC(1970, 0, 2), sessionId: testSessionId('third'), host: 'desk' },
  )
  for (const at of [Date.UTC(2095, 1, 1), 0]) {
    await expect(second.claim(there, { ...wish, at })).rejects.toMatchObject({
      code: 'session-claimed',
      message: 'demo-work is continued on desk, as session third',
    })
  }
})

test('a machine continues to push after an unconfirmed push and after somebody emptied the remote', {
  tags: ['extended'],
}, async () => {
  const { bench: fixture, remote, first, keeping: target, further } = await twoMachines()
  const notes = fs.readdirSync(path.join(fixture.state, target.sessionId)).filter(name => name.startsWith('pushed-'))
  expect(notes).toHaveLength(1)
  const note = path.join(fixture.state, target.sessionId, notes[0] ?? '')
  const ref = `refs/oneshot/demo-work/${target.sessionId}`
  const [before] = (JSON.parse(fs.readFileSync(note, 'utf8')) as Record<string, string[]>)[ref] ?? []
  await further()
  await first.push(target, 'origin', env(fixture), NEVER)
  const tip = fixture.git(remote, 'rev-parse', ref).trim()
  fs.writeFileSync(note, JSON.stringify({ [ref]: [before, tip] }))
  await further()
  await first.push(target, 'origin', env(fixture), NEVER)
  fixture.git(remote, 'update-ref', '-d', ref)
  await further()
  await first.push(target, 'origin', env(fixture), NEVER)
  fs.rmSync(note)
  await further()
  await first.push(target, 'origin', env(fixture), NEVER)
  expect(fixture.git(remote, 'rev-parse', ref)).toBe(fixture.git(target.cwd, 'rev-parse', ref))
})

test('a push contains messages whole that are too long for each checkpoint', async () => {
  const { bench: fixture, clone, first, second, keeping: target, there } = await twoMachines()
  const goal = ['x'.repeat(300_000), 'and then this']
  put(target.cwd, 'a.txt', 'more\n')
  await savedCheckpoint(first.save(target, makeCheckpointRequest({ goal }), NEVER))
  put(target.cwd, 'a.txt', 'even more\n')
  await savedCheckpoint(first.save(target, makeCheckpointRequest({ goal: [...goal, 'third'] }), NEVER))
  await first.push(target, 'origin', env(fixture), NEVER)
  expect(await second.readMessages(there)).toBeNull()
  await second.fetch(clone, origin(fixture), all => all, NEVER)
  expect(await second.readMessages(there)).toEqual([...goal, 'third'])
  expect(await second.list(there)).toHaveLength(3)
  await second.removeRefs(there)
  expect(fixture.git(clone, 'for-each-ref', 'refs/oneshot')).toBe('')
})
