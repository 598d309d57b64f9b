import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SessionView } from '../../api/contract/responses.ts'
import { homeAt } from '../../state/home.ts'
import { attemptFolder, type AttemptFolder } from '../../state/session-folder.ts'
import { cutOutput } from './end-processes-without-supervisor.ts'

const KB = 1024
const session = { id: 'abc', attempt: 2 } as SessionView

let root: string
let folder: AttemptFolder
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'cut-'))
  folder = attemptFolder(homeAt(root), session.id, session.attempt)
  fs.mkdirSync(folder.root, { recursive: true })
})
afterEach(() => fs.rmSync(root, { recursive: true, force: true }))

const cut = (): number => cutOutput(homeAt(root), session)

describe('on a full disk, cutOutput', () => {
  test('removes the last 512 KB of the larger output file', () => {
    fs.writeFileSync(folder.stdout, 'x'.repeat(KB))
    fs.writeFileSync(folder.stderr, 'y'.repeat(600 * KB))
    expect(cut()).toBe(512 * KB)
    expect([folder.stdout, folder.stderr].map(file => fs.statSync(file).size)).toEqual([KB, 88 * KB])
  })

  test('removes nothing without output', () => {
    expect(cut()).toBe(0)
    fs.writeFileSync(folder.stdout, '')
    expect(cut()).toBe(0)
  })

  test('spares the target of a link, and does not wait at a pipe', () => {
    const precious = path.join(root, 'precious')
    fs.writeFileSync(precious, 'x'.repeat(KB))
    fs.symlinkSync(precious, folder.stdout)
    execFileSync('mkfifo', [folder.stderr])
    expect(cut()).toBe(0)
    expect(fs.statSync(precious).size).toBe(KB)
  })
})
