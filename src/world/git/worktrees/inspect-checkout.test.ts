import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tipsByFiles } from './revisions/read-refs-from-files.ts'

const [A, B, C, D] = ['a', 'b', 'c', 'd'].map(letter => letter.repeat(40)) as [string, string, string, string]

let git: string
beforeEach(() => {
  git = fs.mkdtempSync(path.join(os.tmpdir(), 'refs-'))
})
afterEach(() => fs.rmSync(git, { recursive: true, force: true }))

function put(name: string, text: string): void {
  const file = path.join(git, name)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, text)
}

describe('tipsByFiles', () => {
  it('reads branches, remote branches, tags and the stash, loose and packed', () => {
    put('packed-refs', `# pack-refs with: peeled\n${A} refs/heads/main\n${B} refs/tags/v1\n^${C}\n${D} refs/notes/x\n`)
    put('refs/heads/topic/one', `${C}\n`)
    put('refs/stash', `${D}\n`)
    expect(tipsByFiles(git)).toEqual(new Set([A, B, C, D]))
  })

  it('prefers a loose ref to a packed one', () => {
    put('packed-refs', `${A} refs/heads/main\n`)
    put('refs/heads/main', `${B}\n`)
    put('refs/oneshot/name/id', `${C}\n`)
    expect(tipsByFiles(git)).toEqual(new Set([B]))
  })

  it('returns an empty set for a repository without commits', () => {
    fs.mkdirSync(path.join(git, 'refs/heads'), { recursive: true })
    expect(tipsByFiles(git)).toEqual(new Set())
  })

  const odd: Record<string, () => void> = {
    'a symbolic ref': () => put('refs/remotes/origin/HEAD', 'ref: refs/remotes/origin/main\n'),
    'a link': () => fs.symlinkSync('main', path.join(git, 'refs/heads/other')),
    'a lock': () => put('refs/heads/main.lock', ''),
    'a broken ref': () => put('refs/heads/broken', 'x'),
    'a folder instead of packed refs': () => fs.mkdirSync(path.join(git, 'packed-refs')),
    'tables of refs': () => fs.mkdirSync(path.join(git, 'reftable')),
  }
  it.each(Object.keys(odd))('returns null so that the caller asks git when it finds %s', name => {
    put('refs/heads/main', `${A}\n`)
    odd[name]?.()
    expect(tipsByFiles(git)).toBeNull()
  })
})
