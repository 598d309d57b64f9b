import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { findEnvSecretsWithBase64 } from '../../src/lib/mask/env-secrets.ts'
import { checkpointTargetOf } from '../../src/ports/checkpoints.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { NEVER, makeCheckpointRequest, openGitFixture, put, savedCheckpoint } from '../contracts/git-fixture.ts'

const TOKEN = 'correct-horse-battery-7731'
const PRIVATE_KEY = [
  '-----BEGIN PRIVATE KEY-----',
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj',
  'MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu',
  '-----END PRIVATE KEY-----',
]

test('a pushed checkpoint leaves out untracked files that look like secrets, and names them', async () => {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  put(repo, 'tracked.pem', 'a public test fixture\n')
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '--message', 'first')
  const secrets = {
    '.env': 'PASSWORD=x\n',
    'config/.env.local': 'A=b\n',
    id_ed25519: 'key\n',
    'deploy.key': 'key\n',
    'notes.txt': `the token is ${TOKEN}\n`,
    'src/client.ts': `const key = 'ghp_${'a1B2'.repeat(9)}'\n`,
    'backup.txt': `${PRIVATE_KEY.join('\n')}\n`,
    'gcp.json': `{"type": "service_account", "private_key": "${PRIVATE_KEY.join('\\n')}\\n"}\n`,
    'exported.txt': Buffer.from(`\ufeff${PRIVATE_KEY.join('\r\n')}\r\n`, 'utf16le'),
    'dump.sql': `${'INSERT INTO t VALUES (1);\n'.repeat(80_000)}-- ${PRIVATE_KEY.join('\n-- ')}\n`,
    'config/prod.env': 'A=b\n',
    '.pypirc': 'a\n',
    '.my.cnf': 'a\n',
    '.vault-token': 'a\n',
    '.kube/config': 'a\n',
    '.docker/config.json': '{}\n',
    'infra/terraform.tfstate': '{}\n',
    'wg0.conf': '[Interface]\nPrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\n',
    'app.properties': 'db.password=S3cr3t-Hunter2\n',
    'with space\n.env': '', // A name that is no .env.
  }
  const harmless = {
    '.env.example': 'PASSWORD=\n',
    'src/password.ts': "const password = 'in a test'\n",
    'id_x.pub': 'p\n',
    'sample.env': 'A=\n',
    'nginx.conf': 'server { listen 80; }\n',
    'image.bin': Buffer.alloc(4_096),
  }
  for (const [name, text] of Object.entries({ ...secrets, ...harmless })) put(repo, name, text)
  put(repo, 'tracked.pem', 'changed\n')
  const checkpoints = fixture.checkpoints({ secretsOf: () => [TOKEN] })
  const { sessionId: id, name } = fixture.checkpointTarget(repo)
  const saving = { mode: 'ref', interval: 1, push: 'origin' } as const
  const target = checkpointTargetOf({ cwd: repo, id, name, supervision: { saving } })
  const pushed = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  const files = (commit: string): string[] =>
    fixture.git(repo, 'ls-tree', '-r', '-z', '--name-only', commit).split('\0').slice(0, -1)
  const kept = files(pushed.commit)
  for (const name of Object.keys(secrets).slice(0, -1)) expect(kept).not.toContain(name)
  for (const name of [...Object.keys(harmless), 'tracked.pem', 'with space\n.env']) expect(kept).toContain(name)
  expect(pushed.leftOut).toContain('.env looks like a secret, and checkpoints are pushed')
  expect(fixture.git(repo, 'show', `${pushed.commit}:tracked.pem`)).toBe('changed\n')

  // A checkpoint does not withhold a file that its user has committed.
  fixture.git(repo, 'add', 'deploy.key')
  fixture.git(repo, 'commit', '--quiet', '--message', 'on purpose')
  const committed = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  expect(files(committed.commit)).toContain('deploy.key')

  const asked = checkpointTargetOf({ cwd: repo, id, name, supervision: { saving: { ...saving, pushUntracked: true } } })
  const whole = await savedCheckpoint(checkpoints.save(asked, makeCheckpointRequest(), NEVER))
  expect(files(whole.commit)).toEqual(expect.arrayContaining(Object.keys(secrets)))
})

test('a checkpoint without push contains secret files, and a restore does not touch a file that a pushed one left out', async () => {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'a\n')
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '--message', 'first')
  put(repo, '.env', 'A=b\n')
  const { sessionId: id, name } = fixture.checkpointTarget(repo)
  const checkpoints = fixture.checkpoints()
  const local = checkpointTargetOf({
    cwd: repo,
    id: testSessionId('aaaaaaaaaa'),
    name,
    supervision: { saving: { push: null } },
  })
  const own = await savedCheckpoint(checkpoints.save(local, makeCheckpointRequest(), NEVER))
  expect(fixture.git(repo, 'show', `${own.commit}:.env`)).toBe('A=b\n')

  const pushed = checkpointTargetOf({ cwd: repo, id, name, supervision: { saving: { push: 'origin' } } })
  const first = await savedCheckpoint(checkpoints.save(pushed, makeCheckpointRequest(), NEVER))
  put(repo, 'a.txt', 'b\n')
  const second = await savedCheckpoint(checkpoints.save(pushed, makeCheckpointRequest(), NEVER))
  await checkpoints.restoreInPlace(pushed, first, second)
  expect(fixture.git(repo, 'status', '--porcelain').trim()).toBe('?? .env')
})

/** A session whose checkpoints are pushed, in a repository with these files committed. */
function pushing(committed: Readonly<Record<string, string>> = {}) {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  for (const [name, text] of Object.entries({ 'a.txt': 'a\n', ...committed })) put(repo, name, text)
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '--message', 'first')
  const checkpoints = fixture.checkpoints({ secretsOf: () => findEnvSecretsWithBase64({ DEPLOY_PASSWORD: TOKEN }) })
  const { sessionId: id, name } = fixture.checkpointTarget(repo)
  const target = checkpointTargetOf({ cwd: repo, id, name, supervision: { saving: { push: 'origin' } } })
  const save = () => savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  /** All that a push of it would bring, with its messages. */
  const pushedWith = (commit: string): string => {
    const list = spawnSync('git', ['rev-list', '--objects', '--no-object-names', commit], {
      cwd: repo,
      env: fixture.env,
    })
    const how = { cwd: repo, env: fixture.env, input: list.stdout, maxBuffer: 1e9 }
    return spawnSync('git', ['cat-file', '--batch'], how).stdout.toString('latin1')
  }
  return { bench: fixture, repo, save, pushedWith }
}

const ENCODED = ['', 'u:', 'me:'].map(front => Buffer.from(`${front}${TOKEN}\n`).toString('base64'))
const PLACES: Readonly<Record<string, (repo: string) => void>> = {
  'a tracked file': repo => put(repo, 'a.txt', `a\n${TOKEN}\n`),
  'a file that was saved before without it': repo => put(repo, 'early.txt', `now ${TOKEN}\n`),
  'the end of a long file': repo => put(repo, 'long.txt', `${'x'.repeat(3_000_000)}${TOKEN}`),
  'a file where it lies across two pieces': repo => put(repo, 'across.bin', `${'x'.repeat(1_048_576 - 7)}${TOKEN}`),
  'base64 at any place': repo => ENCODED.forEach((text, at) => put(repo, `secret${at}.yaml`, `data: ${text}\n`)),
  'the target of a link': repo => fs.symlinkSync(TOKEN, path.join(repo, 'link')),
  'the name of a file': repo => put(repo, `${TOKEN}.log`, 'x\n'),
  'the name of a folder': repo => put(repo, `sub/${TOKEN}/x`, 'x\n'),
}

test.each(Object.entries(PLACES))(
  'a pushed checkpoint leaves out the value of a secret variable in %s, and says so',
  async (_, write) => {
    const { repo, save, pushedWith } = pushing()
    put(repo, 'early.txt', 'nothing yet\n')
    await save()
    write(repo)
    put(repo, 'other.txt', 'this goes along\n')
    const { commit, leftOut } = await save()
    const pushed = pushedWith(commit)
    for (const secret of [TOKEN, ...ENCODED.map(text => text.slice(4, 30))]) expect(pushed).not.toContain(secret)
    expect(pushed).toContain('this goes along')
    expect(leftOut.join('\n')).toContain('holds the value of a secret variable, and checkpoints are pushed')
  },
)

test('a pushed checkpoint saves a tracked file that held a secret before, and leaves out another file only while it holds the secret', async () => {
  const { bench: fixture, repo, save } = pushing({ 'config.txt': `known ${TOKEN}\n` })
  put(repo, 'config.txt', `known ${TOKEN}, changed\n`)
  put(repo, 'a.txt', `${TOKEN}\n`)
  const first = await save()
  expect(first.leftOut).toEqual(['a.txt holds the value of a secret variable, and checkpoints are pushed'])
  expect(fixture.git(repo, 'show', `${first.commit}:config.txt`)).toContain('changed')
  expect(fixture.git(repo, 'show', `${first.commit}:a.txt`)).toBe('a\n')
  put(repo, 'a.txt', 'b\n')
  const second = await save()
  expect([second.leftOut, fixture.git(repo, 'show', `${second.commit}:a.txt`)]).toEqual([[], 'b\n'])
})
