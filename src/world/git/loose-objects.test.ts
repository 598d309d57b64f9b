import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { objectFile, readLooseObject, writeLooseCommit } from './loose-objects.ts'
import type { Repository } from './repository.ts'

const CONTENT = { parents: [], seconds: 0, message: 'one: ü' }

function openRepository(): { repository: Repository; git: (...args: string[]) => string; tree: string } {
  const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'os-loose-')))
  onTestFinished(() => fs.rmSync(top, { recursive: true }))
  const env = { PATH: process.env['PATH'], HOME: top, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: top, env, encoding: 'utf8' }).trim()
  git('init', '--quiet')
  const tree = git('hash-object', '-t', 'tree', '-w', '/dev/null')
  const gitDir = path.join(top, '.git')
  const emptyIds = { commit: '0'.repeat(40), tree }
  return { repository: { top, gitDir, commonDir: gitDir, isPartial: false, emptyIds }, git, tree }
}

test('git finds the same commit under the same id as if it had written it', () => {
  const { repository, git, tree } = openRepository()
  const first = writeLooseCommit({ repository, umask: 0o022 }, { tree, ...CONTENT }, []) ?? ''
  const next = writeLooseCommit({ repository, umask: 0o022 }, { tree, ...CONTENT, parents: [first] }, [first]) ?? ''
  const who = ['-c', 'user.name=oneshot', '-c', 'user.email=oneshot@localhost']
  const dates = { GIT_AUTHOR_DATE: '@0 +0000', GIT_COMMITTER_DATE: '@0 +0000' }
  const byGit = execFileSync('git', [...who, 'commit-tree', tree, '-p', first, '-m', 'one: ü'], {
    cwd: repository.top,
    env: { PATH: process.env['PATH'], ...dates },
    encoding: 'utf8',
  })
  expect(`${next}\n`).toBe(byGit)
  git('fsck', '--strict', next)
  expect((fs.statSync(objectFile(repository.commonDir, next)).mode & 0o777).toString(8)).toBe('444')
})

test('the writer leaves a commit to git if its parent is missing or broken, or if the objects lie elsewhere', () => {
  const { repository, tree } = openRepository()
  const write = (parents: string[]): string | null =>
    writeLooseCommit({ repository, umask: 0o022 }, { tree, ...CONTENT, parents }, parents)
  expect(write(['1'.repeat(40)])).toBe(null)
  const parent = write([]) ?? ''
  fs.rmSync(objectFile(repository.commonDir, parent))
  fs.writeFileSync(objectFile(repository.commonDir, parent), '')
  expect(write([parent])).toBe(null)
  expect(write([])).toBe(parent)
  expect(readLooseObject(repository, parent)?.type).toBe('commit')
  const objects = path.join(repository.commonDir, 'objects')
  fs.renameSync(objects, `${objects}-elsewhere`)
  fs.symlinkSync(`${objects}-elsewhere`, objects)
  expect(write([])).toBe(null)
})
