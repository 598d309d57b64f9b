import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { Trouble } from '../../src/lib/trouble.ts'
import { until } from '../../src/testkit/real/until.ts'
import { identify, lives } from '../../src/world/os/processes.ts'
import { type GitBench, NEVER, occasion, openGitBench, put, saved } from './git-bench.ts'

function begin(bench: GitBench): { repo: string; remote: string } {
  const remote = bench.repository('remote.git', '--bare')
  const repo = bench.repository('repo')
  put(repo, 'a.txt', 'a\n')
  bench.git(repo, 'add', '.')
  bench.git(repo, 'commit', '--quiet', '--message', 'first')
  bench.git(repo, 'remote', 'add', 'origin', remote)
  return { repo, remote }
}

const env = (bench: GitBench): Record<string, string> => bench.env as Record<string, string>
const origin = (bench: GitBench) => ({ remote: 'origin', env: env(bench) })

test('what is pushed is found in a fresh clone, with commits that were never pushed, and comes back there', async () => {
  const bench = openGitBench()
  const { repo, remote } = begin(bench)
  bench.git(repo, 'push', '--quiet', 'origin', 'main')
  put(repo, '.git/hooks/pre-push', '#!/bin/sh\nexit 1\n', 0o755)
  put(repo, 'a.txt', 'committed, never pushed\n')
  bench.git(repo, 'commit', '--quiet', '--all', '--message', 'second')
  put(repo, 'new.txt', 'uncommitted\n')
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  const made = await saved(checkpoints.save(keeping, occasion({ record: '{"prompt":"p"}' }), NEVER))
  await checkpoints.push(keeping, 'origin', env(bench), NEVER)
  const refs = bench.git(repo, 'for-each-ref', '--format=%(refname)')
  expect(refs, 'nothing else has come of it').toBe(
    `refs/heads/main\nrefs/oneshot/demo-work/${keeping.sessionId}\nrefs/remotes/origin/main\n`,
  )

  const clone = path.join(bench.root, 'clone')
  bench.git(bench.root, 'clone', '--quiet', remote, clone)
  expect(await checkpoints.find(clone)).toEqual([])
  bench.git(clone, 'config', 'fetch.prune', 'true')
  await checkpoints.fetch(clone, origin(bench), all => all.filter(({ name }) => name === 'demo-work'), NEVER)
  expect(fs.existsSync(path.join(clone, '.git/FETCH_HEAD'))).toBe(false)
  expect(await checkpoints.find(clone)).toMatchObject([{ name: 'demo-work', sessionId: keeping.sessionId, last: made }])
  expect(await checkpoints.find(clone, 'other-name')).toEqual([])
  const there = { ...keeping, cwd: clone }
  expect(await checkpoints.record(there, made.commit)).toBe('{"prompt":"p"}')
  const beside = path.join(bench.root, 'beside')
  await checkpoints.restoreBeside(there, made, { branch: 'back', worktree: beside })
  expect(fs.readFileSync(path.join(beside, 'a.txt'), 'utf8')).toBe('committed, never pushed\n')
  expect(bench.git(beside, 'log', '--format=%s')).toBe('oneshot: checkpoint 1 (edit)\nsecond\nfirst\n')

  put(clone, 'a.txt', 'further\n')
  const further = await saved(checkpoints.save(there, occasion(), NEVER))
  await checkpoints.fetch(clone, origin(bench), all => all, NEVER)
  expect((await checkpoints.find(clone))[0]?.last, 'what is further here stays').toEqual(further)
  await checkpoints.push(there, 'origin', env(bench), NEVER)
  await checkpoints.fetch(repo, origin(bench), all => all, NEVER)
  expect((await checkpoints.find(repo))[0]?.last).toEqual(further)
})

test('what is restored from another session is its checkpoint, not the own one of the same number', async () => {
  const bench = openGitBench()
  const { repo } = begin(bench)
  const checkpoints = bench.checkpoints()
  const [theirs, ours] = [bench.keeping(repo), bench.keeping(repo)]
  put(repo, 'a.txt', 'work of the lost machine\n')
  const last = await saved(checkpoints.save(theirs, occasion(), NEVER))
  bench.git(repo, 'checkout', '--quiet', 'a.txt')
  const found = await saved(checkpoints.save(ours, occasion(), NEVER))
  expect(found.number).toBe(last.number)
  await checkpoints.restoreHere(ours, last, found)
  expect(fs.readFileSync(path.join(repo, 'a.txt'), 'utf8')).toBe('work of the lost machine\n')
})

test('a chain that was thinned replaces the longer one on the remote', async () => {
  const bench = openGitBench()
  const { repo } = begin(bench)
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  for (let n = 0; n < 25; n++) {
    put(repo, 'a.txt', `${n}\n`)
    await saved(checkpoints.save(keeping, occasion({ at: n * 1000 }), NEVER))
  }
  await checkpoints.push(keeping, 'origin', env(bench), NEVER)
  expect(await checkpoints.thin(keeping, 10 * 86_400_000)).toBeGreaterThan(20)
  await checkpoints.push(keeping, 'origin', env(bench), NEVER)
  const [local, remote] = [repo, path.join(bench.root, 'remote.git')].map(folder =>
    bench.git(folder, 'for-each-ref', '--format=%(objectname)', 'refs/oneshot'),
  )
  expect(remote).toBe(local)
})

test('of a chain that was thinned elsewhere, what is here stays, and the fetch says so', async () => {
  const bench = openGitBench()
  const { repo, remote } = begin(bench)
  bench.git(repo, 'push', '--quiet', 'origin', 'main')
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  for (let n = 0; n < 25; n++) {
    put(repo, 'a.txt', `${n}\n`)
    await saved(checkpoints.save(keeping, occasion({ at: n * 1000 }), NEVER))
  }
  await checkpoints.push(keeping, 'origin', env(bench), NEVER)
  const clone = path.join(bench.root, 'clone')
  bench.git(bench.root, 'clone', '--quiet', '--branch', 'main', remote, clone)
  await checkpoints.fetch(clone, origin(bench), all => all, NEVER)
  put(repo, 'a.txt', 'further\n')
  await saved(checkpoints.save(keeping, occasion({ at: 86_400_000 }), NEVER))
  await checkpoints.thin(keeping, 10 * 86_400_000)
  await checkpoints.push(keeping, 'origin', env(bench), NEVER)
  const { name, sessionId } = keeping
  expect(await checkpoints.fetch(clone, origin(bench), all => all, NEVER)).toEqual({
    taken: [],
    diverged: [{ name, sessionId }],
  })
  expect((await checkpoints.find(clone))[0]?.last.number).toBe(25)
  await checkpoints.forgetRefs({ ...keeping, cwd: clone })
  await checkpoints.fetch(clone, origin(bench), all => all, NEVER)
  const refs = (folder: string): string =>
    bench.git(folder, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/oneshot*', 'refs/oneshot-fetched')
  expect(refs(clone)).toBe(refs(repo))
})

const TROUBLES: Readonly<Record<string, { remote: string; says: RegExp; mayHelp: boolean }>> = {
  'a remote that is not there': { remote: 'nowhere', says: /^pushing to nowhere: .*nowhere.*/, mayHelp: false },
  'a remote that looks like an option': { remote: '--mirror', says: /--mirror/, mayHelp: false },
  'an address that refuses, without its password': {
    remote: 'https://me:secret-word@127.0.0.1:1/x.git',
    says: /^pushing to the remote: (?!.*secret-word).*127\.0\.0\.1/,
    mayHelp: true,
  },
}

test.each(Object.entries(TROUBLES))('%s', async (_, { remote, says, mayHelp }) => {
  const bench = openGitBench()
  const { repo } = begin(bench)
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  await saved(checkpoints.save(keeping, occasion(), NEVER))
  const trouble = await checkpoints.push(keeping, remote, env(bench), NEVER).catch((cause: unknown) => cause)
  expect(trouble).toBeInstanceOf(Trouble)
  expect(trouble).toMatchObject({ message: expect.stringMatching(says), mayHelpToRetry: mayHelp })
})

test('ssh is told not to ask, unless the user has chosen how it is called', async () => {
  const bench = openGitBench()
  const { repo } = begin(bench)
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  await saved(checkpoints.save(keeping, occasion(), NEVER))
  const bin = path.join(bench.root, 'bin')
  put(bin, 'ssh', `#!/bin/sh\necho "$@" $SSH_ASKPASS_REQUIRE >> ${bench.root}/ssh-args\nexit 255\n`, 0o755)
  put(bin, 'own', `#!/bin/sh\necho own "$@" >> ${bench.root}/ssh-args\nexit 255\n`, 0o755)
  const reach = { ...env(bench), SSH_ASKPASS_REQUIRE: 'force', PATH: `${bin}:${bench.env['PATH']}` }
  const remote = 'git@host.invalid:x.git'
  await expect(checkpoints.push(keeping, remote, reach, NEVER)).rejects.toThrow(Trouble)
  await expect(
    checkpoints.push(keeping, remote, { ...reach, GIT_SSH_COMMAND: `${bin}/own -4` }, NEVER),
  ).rejects.toThrow()
  bench.git(repo, 'config', '--global', 'core.sshCommand', `${bin}/own -6`)
  await expect(checkpoints.push(keeping, remote, reach, NEVER)).rejects.toThrow()
  const calls = fs.readFileSync(path.join(bench.root, 'ssh-args'), 'utf8').trim().split('\n')
  const ways = new Set(calls.map(call => call.split(' ').slice(0, 2).join(' '))) // git may try one before it uses it.
  expect([...ways]).toEqual(['-o BatchMode=yes', 'own -4', 'own -6'])
  expect(calls[0]).toMatch(/ never$/)
})

function isGone(pid: number): boolean {
  const found = identify(pid)
  return found === undefined || lives(found) === 'dead'
}

test('a push that nobody waits for any more ends with everything that it has started', async () => {
  const bench = openGitBench()
  const { repo } = begin(bench)
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  await saved(checkpoints.save(keeping, occasion(), NEVER))
  const script = path.join(bench.root, 'hang')
  put(bench.root, 'hang', `#!/bin/sh\necho $$ > ${bench.root}/pid\nexec sleep 1000\n`, 0o755)
  const ending = new AbortController()
  fs.watch(bench.root, (_, name) => {
    if (name === 'pid') ending.abort()
  }).unref()
  const pushing = checkpoints.push(
    keeping,
    'ssh://host.invalid/x',
    { ...env(bench), GIT_SSH_COMMAND: script },
    ending.signal,
  )
  await expect(pushing).rejects.toThrow('it was cancelled')
  const pid = Number(fs.readFileSync(path.join(bench.root, 'pid'), 'utf8'))
  await until('it is gone', () => isGone(pid))
})

/** The same work on two machines: one that began it, and a clone that continues it. */
async function twoMachines() {
  const bench = openGitBench()
  const { repo, remote } = begin(bench)
  bench.git(repo, 'push', '--quiet', 'origin', 'main')
  const [first, second] = [
    bench.checkpoints(),
    bench.checkpoints({ folderOf: id => path.join(bench.root, 'other', id) }),
  ]
  const keeping = bench.keeping(repo)
  put(repo, 'a.txt', 'begun\n')
  await saved(first.save(keeping, occasion({ record: '{"a":1}' }), NEVER))
  await first.push(keeping, 'origin', env(bench), NEVER)
  const clone = path.join(bench.root, 'clone')
  bench.git(bench.root, 'clone', '--quiet', '--branch', 'main', remote, clone)
  await second.fetch(clone, origin(bench), all => all, NEVER)
  const there = { ...keeping, cwd: clone }
  const wish = { ...origin(bench), at: 1_800_000_100_000, sessionId: 'second', host: 'laptop', isTakeOver: false }
  const further = async (): Promise<void> => {
    put(repo, 'a.txt', `${Math.random()}\n`)
    await saved(first.save(keeping, occasion(), NEVER))
  }
  return { bench, repo, remote, clone, first, second, keeping, there, wish, further }
}

test('once another machine has claimed a session, the first one stops pushing it and says who continues it', async () => {
  const { bench, remote, clone, first, second, keeping, there, wish, further } = await twoMachines()
  await second.claim(there, wish)
  expect(await second.find(clone)).toMatchObject([
    { claim: { sessionId: 'second', host: 'laptop' }, record: '{"a":1}' },
  ])
  const tip = bench.git(remote, 'for-each-ref', '--format=%(objectname)', 'refs/oneshot')
  await further()
  for (let n = 0; n < 2; n++) {
    await expect(first.push(keeping, 'origin', env(bench), NEVER)).rejects.toMatchObject({
      message: expect.stringContaining(
        'laptop continues this session as second; to end it here: oneshot stop demo-work',
      ),
      mayHelpToRetry: false,
    })
  }
  expect(bench.git(remote, 'for-each-ref', '--format=%(objectname)', 'refs/oneshot')).toBe(tip)
})

test('only one machine can claim a session; another one can take it over, and one that gives it back leaves it as it was', async () => {
  const { bench, remote, first, second, keeping, there, wish, further } = await twoMachines()
  const giveBack = await second.claim(there, wish)
  const again = { ...wish, sessionId: 'third', host: 'desk' }
  await expect(second.claim(there, again)).rejects.toMatchObject({
    code: 'session-claimed',
    message: 'demo-work is continued on laptop, as session second',
    hint: `if that machine is lost: oneshot resume ${keeping.sessionId} --from origin --take-over`,
  })
  await giveBack()
  await further()
  await first.push(keeping, 'origin', env(bench), NEVER)
  await expect(second.claim(there, wish), 'it has gone on since it was fetched').rejects.toThrow(
    'has changed on origin',
  )
  await second.fetch(there.cwd, origin(bench), all => all, NEVER)
  await second.claim(there, wish)
  await second.claim(there, { ...again, isTakeOver: true })
  expect(bench.git(remote, 'for-each-ref', '--format=%(contents)', 'refs/oneshot')).toContain(
    'Oneshot-Claim: 3 third desk\n',
  )
})

test('clocks that are wrong by years decide nothing, and a race that is lost says who has won', async () => {
  const { bench, clone, first, second, keeping, there, wish } = await twoMachines()
  put(keeping.cwd, 'a.txt', 'far in the future\n')
  await saved(first.save(keeping, occasion({ at: Date.UTC(2090, 1, 1) }), NEVER))
  put(keeping.cwd, 'a.txt', 'long ago\n')
  await saved(first.save(keeping, occasion({ at: Date.UTC(1980, 1, 1) }), NEVER))
  await first.push(keeping, 'origin', env(bench), NEVER)
  await second.fetch(clone, origin(bench), all => all, NEVER)
  expect((await second.list(there)).map(({ number }) => number)).toEqual([1, 2, 3])
  // A third machine has fetched the same, and claims it first.
  const third = bench.checkpoints({ folderOf: id => path.join(bench.root, 'third', id) })
  const other = path.join(bench.root, 'other-clone')
  bench.git(bench.root, 'clone', '--quiet', '--branch', 'main', path.join(bench.root, 'remote.git'), other)
  await third.fetch(other, origin(bench), all => all, NEVER)
  await third.claim({ ...keeping, cwd: other }, { ...wish, at: Date.UTC(1970, 0, 2), sessionId: 'third', host: 'desk' })
  for (const at of [Date.UTC(2095, 1, 1), 0]) {
    await expect(second.claim(there, { ...wish, at })).rejects.toMatchObject({
      code: 'session-claimed',
      message: 'demo-work is continued on desk, as session third',
    })
  }
})

test('a push that arrived without our hearing of it, or a remote that was emptied, is no reason to stop', async () => {
  const { bench, remote, first, keeping, further } = await twoMachines()
  const notes = fs.readdirSync(path.join(bench.state, keeping.sessionId)).filter(name => name.startsWith('pushed-'))
  expect(notes).toHaveLength(1)
  const note = path.join(bench.state, keeping.sessionId, notes[0] ?? '')
  const ref = `refs/oneshot/demo-work/${keeping.sessionId}`
  const [before] = (JSON.parse(fs.readFileSync(note, 'utf8')) as Record<string, string[]>)[ref] ?? []
  await further()
  await first.push(keeping, 'origin', env(bench), NEVER)
  const tip = bench.git(remote, 'rev-parse', ref).trim()
  fs.writeFileSync(note, JSON.stringify({ [ref]: [before, tip] }))
  await further()
  await first.push(keeping, 'origin', env(bench), NEVER)
  bench.git(remote, 'update-ref', '-d', ref)
  await further()
  await first.push(keeping, 'origin', env(bench), NEVER)
  fs.rmSync(note)
  await further()
  await first.push(keeping, 'origin', env(bench), NEVER)
  expect(bench.git(remote, 'rev-parse', ref)).toBe(bench.git(keeping.cwd, 'rev-parse', ref))
})

test('messages that are too long for each checkpoint go along whole', async () => {
  const { bench, clone, first, second, keeping, there } = await twoMachines()
  const goal = ['x'.repeat(300_000), 'and then this']
  put(keeping.cwd, 'a.txt', 'more\n')
  await saved(first.save(keeping, occasion({ goal }), NEVER))
  put(keeping.cwd, 'a.txt', 'even more\n')
  await saved(first.save(keeping, occasion({ goal: [...goal, 'third'] }), NEVER))
  await first.push(keeping, 'origin', env(bench), NEVER)
  expect(await second.goal(there)).toBeNull()
  await second.fetch(clone, origin(bench), all => all, NEVER)
  expect(await second.goal(there)).toEqual([...goal, 'third'])
  expect(await second.list(there)).toHaveLength(3)
  await second.forgetRefs(there)
  expect(bench.git(clone, 'for-each-ref', 'refs/oneshot')).toBe('')
})
